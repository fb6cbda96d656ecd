# The API and the browser's files. No torch: this image stays small and starts in two seconds.
FROM node:24-slim AS frontend
WORKDIR /src/frontend
COPY frontend/package.json frontend/package-lock.json ./
RUN npm ci --no-audit --no-fund
COPY frontend/ ./
RUN npm run build

FROM python:3.12-slim AS api
ENV PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 PIP_NO_CACHE_DIR=1
WORKDIR /app
# pg_dump and pg_restore of the server's major version, for `podium backup`; Debian's own are older. Its
# repository keeps the newest minor version alone, so none is pinned.
ADD --chmod=644 https://www.postgresql.org/media/keys/ACCC4CF8.asc /usr/share/keyrings/postgresql.asc
# hadolint ignore=DL3008
RUN . /etc/os-release \
    && echo "deb [signed-by=/usr/share/keyrings/postgresql.asc] http://apt.postgresql.org/pub/repos/apt ${VERSION_CODENAME}-pgdg main" \
        > /etc/apt/sources.list.d/postgresql.list \
    && apt-get update \
    && apt-get install --yes --no-install-recommends postgresql-client-18 \
    && rm -rf /var/lib/apt/lists/*
COPY pyproject.toml constraints.txt alembic.ini README.md LICENSE ./
COPY alembic/ alembic/
COPY backend/ backend/
COPY intervals/ intervals/
COPY problems/ problems/
COPY worker/ worker/
RUN pip install --constraint constraints.txt --editable '.[s3]' \
    && useradd --create-home --uid 10001 podium \
    && mkdir /data && chown podium:podium /data
COPY --from=frontend /src/frontend/dist frontend/dist
USER 10001
ENV PODIUM_DATA_DIR=/data PODIUM_HOST=0.0.0.0 PODIUM_PORT=8000
VOLUME /data
EXPOSE 8000
CMD ["python", "-m", "backend.ops.serve"]
