# syntax=docker/dockerfile:1
# Builds with all dependencies; runs with production dependencies only, without root and without a package manager.
# scripts/pin-base.mjs writes the digest of the base image behind its tag when a release is made.

FROM node:24.21.0-bookworm-slim AS build
WORKDIR /threatweave
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts
COPY tsconfig.json tsconfig.build.json ./
COPY scripts/bundle.mjs ./scripts/bundle.mjs
COPY src ./src
RUN npm run build

FROM node:24.21.0-bookworm-slim AS dependencies
WORKDIR /threatweave
COPY package.json package-lock.json .npmrc ./
COPY scripts/sbom.mjs ./sbom.mjs
RUN npm ci --omit=dev --ignore-scripts && node sbom.mjs > sbom.cdx.json

FROM node:24.21.0-bookworm-slim AS files
WORKDIR /app
COPY --from=dependencies /threatweave/node_modules ./node_modules
COPY --from=dependencies /threatweave/sbom.cdx.json ./sbom.cdx.json
COPY --from=build /threatweave/dist ./dist
COPY package.json LICENSE ./
COPY schemas ./schemas
COPY formats ./formats
COPY sinks ./sinks
COPY sources ./sources
COPY lists ./lists
COPY rules ./rules
COPY examples ./examples
ENV NODE_COMPILE_CACHE=/app/compiled
# What is loaded at the start is compiled, with the options of the entry point: compiled code is for those only. The writable folder is for
# those who mount nothing over it. The list of Debian packages stays, for those who scan the image.
RUN for command in run serve replay notify; do node --max-semi-space-size=32 dist/cli.js "$command" --help > /dev/null; done && \
    mkdir -p /var/lib/threatweave && chown 1000:1000 /var/lib/threatweave && \
    rm -rf /usr/local/lib/node_modules /usr/local/bin/npm /usr/local/bin/npx /usr/local/bin/corepack /usr/local/bin/yarn* /opt/yarn* \
      /usr/bin/apt* /usr/bin/dpkg* /usr/lib/apt /var/lib/apt /var/cache/apt /root/.npm

# One layer, so that what was removed is not in the image.
FROM scratch
ARG VERSION=0.1.0
ARG REVISION=unknown
ARG CREATED=unknown
LABEL org.opencontainers.image.title="threatweave" \
      org.opencontainers.image.description="Adds threat intelligence to a log stream between Kafka topics" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.base.name="docker.io/library/node:24.21.0-bookworm-slim" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}" \
      org.opencontainers.image.created="${CREATED}"
# hadolint ignore=DL3067
COPY --from=files / /
ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
    NODE_ENV=production \
    NODE_COMPILE_CACHE=/app/compiled \
    MALLOC_ARENA_MAX=1 \
    MALLOC_MMAP_THRESHOLD_=131072 \
    XDG_STATE_HOME=/var/lib
WORKDIR /app
USER 1000:1000
VOLUME /var/lib/threatweave
EXPOSE 9464 8787
# Health of a worker; other commands have no such endpoint and must override or disable this.
HEALTHCHECK --interval=15s --timeout=5s --start-period=30s --retries=4 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.THREATWEAVE_OPS_PORT ?? 9464}/healthz`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
# Exec form, so that signals reach the program. Space for events on their way: see src/app/room-for-events.ts.
ENTRYPOINT ["node", "--max-semi-space-size=32", "dist/cli.js"]
CMD ["run"]
