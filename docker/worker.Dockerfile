# A worker: Celery, the supervisor and the trainer with torch. Build with
# --build-arg TORCH_INDEX_URL=... for another build of torch (a CPU build, another CUDA).
FROM python:3.12-slim
ENV PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 PIP_NO_CACHE_DIR=1
ARG TORCH_INDEX_URL=""
WORKDIR /app
COPY pyproject.toml constraints.txt alembic.ini README.md LICENSE ./
COPY alembic/ alembic/
COPY backend/ backend/
COPY intervals/ intervals/
COPY problems/ problems/
COPY worker/ worker/
RUN if [ -n "$TORCH_INDEX_URL" ]; then pip install --constraint constraints.txt --index-url "$TORCH_INDEX_URL" torch; fi \
    && pip install --constraint constraints.txt --editable ".[worker,s3]" \
    && useradd --create-home --uid 10001 podium \
    && mkdir /data && chown podium:podium /data
USER 10001
# Models of the hub stay on the volume, too, and are not fetched again by each new container.
ENV PODIUM_DATA_DIR=/data HF_HOME=/data/huggingface
VOLUME /data
CMD ["celery", "--app", "worker.celery_app", "worker"]
