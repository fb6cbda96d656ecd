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
