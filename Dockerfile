# syntax=docker/dockerfile:1
# Builds with all dependencies; runs with production dependencies only, without root.

FROM node:24.11.1-bookworm-slim AS build
WORKDIR /build
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts
COPY tsconfig.json tsconfig.build.json ./
COPY src ./src
RUN npm run build

FROM node:24.11.1-bookworm-slim AS dependencies
WORKDIR /build
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev --ignore-scripts

FROM node:24.11.1-bookworm-slim
ARG VERSION=0.1.0
ARG REVISION=unknown
LABEL org.opencontainers.image.title="threatweave" \
      org.opencontainers.image.description="Adds threat intelligence to a log stream between Kafka topics" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}"
ENV NODE_ENV=production
WORKDIR /app
COPY --from=dependencies /build/node_modules ./node_modules
COPY --from=build /build/dist ./dist
COPY package.json LICENSE ./
COPY schemas ./schemas
COPY formats ./formats
COPY sources ./sources
COPY lists ./lists
COPY rules ./rules
COPY examples ./examples
# The writable folder, if nothing is mounted over it.
RUN mkdir -p /var/lib/threatweave && chown 1000:1000 /var/lib/threatweave
# The memory folder, unless memory.path is set.
ENV XDG_STATE_HOME=/var/lib
USER 1000:1000
VOLUME /var/lib/threatweave
EXPOSE 9464 8787
# Health of a worker; other commands have no such endpoint and must override or disable this.
HEALTHCHECK --interval=15s --timeout=5s --start-period=30s --retries=4 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.THREATWEAVE_OPS_PORT ?? 9464}/healthz`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
# Exec form, so that signals reach the program. Room for events on their way: with the 16 MB that V8 gives to new objects they are copied again and again.
ENTRYPOINT ["node", "--max-semi-space-size=64", "dist/cli.js"]
CMD ["run"]
