# Keepsake as `make run` serves it, for where others reach it, and the one image of all functions in the cloud, whose
# services name the command of their entry point. docs/deploy.md says how to use both.
# The base is 3.11.16 by its digest, as public build files name it: nothing here could pull it. Renew it for fixes of Debian.
FROM python:3.11-slim@sha256:9c900dea9e8fb7e16277c179b555cc72d29a352dbc33cff48ad5a0412fd5bfc7 AS packages
COPY requirements.txt /tmp/requirements.txt
RUN python -m venv /opt/venv \
    && /opt/venv/bin/python -m pip install --no-cache-dir --disable-pip-version-check --require-hashes \
    -r /tmp/requirements.txt

FROM python:3.11-slim@sha256:9c900dea9e8fb7e16277c179b555cc72d29a352dbc33cff48ad5a0412fd5bfc7
RUN useradd --system --uid 10001 --no-create-home keepsake \
    && install --directory --owner=keepsake --group=keepsake --mode=700 /data
COPY --from=packages /opt/venv /opt/venv
WORKDIR /app
COPY functions functions
COPY shared shared
COPY infra/__init__.py infra/dead_letters.py infra/firestore.indexes.json infra/progress.py infra/reindex.py infra/routes.json infra/
COPY infra/local infra/local
COPY infra/model_server infra/model_server
COPY infra/speech infra/speech
COPY docs/openapi.json docs/apps.md docs/deploy.md docs/how-to.md docs/import.md docs/memories.md docs/models.md docs/operate.md docs/
COPY docs/privacy.md docs/programs.md docs/quotas.md docs/retrieval.md docs/settings.md docs/start.md docs/troubleshoot.md docs/
COPY web web
# Bytecode that is taken as it is: a function starts sooner, and times of files say nothing in an image.
RUN /opt/venv/bin/python -m compileall -q -f --invalidation-mode unchecked-hash /opt/venv/lib functions shared infra
ENV PATH=/opt/venv/bin:$PATH PYTHONPATH=/app PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1 DATA_DIR=/data MODELS_DIR=/data/models HOST=0.0.0.0 PORT=8080 ALLOW_REMOTE=1
USER 10001
VOLUME /data
EXPOSE 8080
HEALTHCHECK --interval=30s --timeout=5s --start-period=15s \
    CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8080/healthz', timeout=4)"]
CMD ["python", "-m", "infra.local"]
