# Isthmus with everything compiled, run by a user who owns nothing.
FROM python:3.12-slim
WORKDIR /opt/isthmus
COPY pyproject.toml README.md LICENSE ./
COPY src src
COPY experiments experiments
ENV NUMBA_CACHE_DIR=/opt/isthmus/compiled
# numba only reads compiled loops from a folder that it could also write to.
RUN pip install --no-cache-dir ".[app]" ./experiments \
    && isthmus warmup \
    && chmod -R a+rX /opt/isthmus \
    && chmod -R a+rwX /opt/isthmus/compiled
USER nobody
WORKDIR /data
ENTRYPOINT ["isthmus"]
CMD ["--help"]
