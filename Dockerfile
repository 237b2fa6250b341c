# A server of a program: docs/deploying.md tells how to run it.
FROM python:3.12-slim AS build
WORKDIR /src
COPY . .
RUN pip wheel --no-cache-dir --no-deps --wheel-dir /wheels .

FROM python:3.12-slim
COPY --from=build /wheels /wheels
RUN pip install --no-cache-dir "$(echo /wheels/ddlog-*.whl)[serve,mcp,sql]" \
    && rm -r /wheels \
    && ddlog compile-kernels \
    && useradd --create-home --uid 10001 ddlog \
    && install --directory --owner=ddlog --mode=0700 /state
USER ddlog
WORKDIR /program
VOLUME /state
EXPOSE 8420
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s \
    CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8420/ready', timeout=4)"]
STOPSIGNAL SIGTERM
ENTRYPOINT ["ddlog"]
CMD ["serve", "main.dl", "--state", "/state/main.state", "--token-file", "/run/secrets/ddlog-token", \
     "--host", "0.0.0.0", "--behind-proxy", "localhost:8420", "--quiet"]
