"""The browser's files as `frontend/` has built them; the address of any page gives index.html."""

from pathlib import Path

from fastapi import FastAPI, Request
from fastapi.responses import FileResponse, Response
from starlette.exceptions import HTTPException
from starlette.staticfiles import StaticFiles


def mount(app: FastAPI, folder: Path) -> None:
    """Serve `folder`; call last, since it answers every address that no route has taken."""

    async def page(request: Request) -> Response:
        """A file of the build, else index.html, which knows the pages."""
        path: str = request.path_params["path"]
        if path == "api" or path.startswith("api/"):
            raise HTTPException(404, f"the API has no address /{path}")
        index = folder / "index.html"
        if not index.is_file():
            raise HTTPException(404, "the browser UI is not built; run `make up`, which builds it")
        # StaticFiles confines the path to the folder, symbolic links included.
        files = StaticFiles(directory=folder)
        found, stat = files.lookup_path(files.get_path(request.scope))
        if stat is not None and Path(found).is_file():
            return FileResponse(found, headers={"Cache-Control": _cache(path)})
        if path.startswith("assets/"):
            # A page that was open before an update asks for a file that is gone: say so, since
            # index.html in its place would be taken for a broken script.
            raise HTTPException(
                404, "this file belongs to another version of the browser UI; reload the page"
            )
        return FileResponse(index, headers={"Cache-Control": "no-cache"})

    # As a route of Starlette: FastAPI takes long to look at one.
    app.add_route("/{path:path}", page, methods=["GET"], include_in_schema=False)


def _cache(path: str) -> str:
    # Vite puts a hash of the content into the names under assets/.
    return "public, max-age=31536000, immutable" if path.startswith("assets/") else "no-cache"
