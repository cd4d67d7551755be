// The Compose file that `init` writes: one worker, with the configuration, list and key from files of the host.
import { dirname } from 'node:path'
import { version } from '../../terminal/version.js'
import type { Answers } from './answers.js'

/** The mount point of the user's list folder. */
export const containerLists = '/etc/threatweave/lists'

export const composeFile = ({ keyFile, list }: Answers): string => `# Written by \`threatweave init\`.
#   docker compose run --rm threatweave check --online --create-topics
#   docker compose up -d && docker compose logs -f
name: threatweave

services:
  threatweave:
    # The image of a release, or one that is built from the sources: docker build -t threatweave:${version} .
    image: threatweave:${version}
    command: [run]
    environment:
      THREATWEAVE_CONFIG: /etc/threatweave/threatweave.yaml
      # So that the port below reaches it.
      THREATWEAVE_OPS_HOST: 0.0.0.0
${keyFile === undefined ? '' : '      THREATWEAVE_INTEL_SERVICE_API_KEY_FILE: /run/secrets/lookup-key\n'}    volumes:
      - ./threatweave.yaml:/etc/threatweave/threatweave.yaml:ro
${list !== undefined && 'path' in list ? `      # The whole folder of your list, because a mounted file would not follow an editor that replaces it.\n      - ${text(`${dirname(list.path)}:${containerLists}:ro`)}\n` : ''}      # Keeps findings and fetched feeds when the container is replaced.
      - state:/var/lib/threatweave
${keyFile === undefined ? '' : '    # The container runs as user 1000, which must be able to read the file.\n    secrets: [lookup-key]\n'}    # Status page, health and metrics, for this machine alone.
    ports: ['127.0.0.1:9464:9464']
    restart: unless-stopped
    # Longer than kafka.limits.drainMs: what is in progress is finished first.
    stop_grace_period: 35s
    read_only: true
    tmpfs: [/tmp]
    cap_drop: [ALL]
    security_opt: ['no-new-privileges:true']
${keyFile === undefined ? '' : `\nsecrets:\n  lookup-key:\n    file: ${text(keyFile)}\n`}
volumes:
  state:
`

/** Escapes dollar signs, which Compose would interpolate. */
const text = (path: string): string => JSON.stringify(path.replaceAll('$', '$$$$'))
