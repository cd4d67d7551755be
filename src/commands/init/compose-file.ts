// The Compose file that `init` writes: one worker, with the configuration, list and key from files of the host.
import { dirname } from 'node:path'
import { version } from '../../terminal/version.js'
import type { Answers } from './answers.js'

/** Where the folder with the user's list is in the container. */
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
${list !== undefined && 'path' in list ? `      # The folder of your list, with all that is in it: a mounted file would stay the old one when an editor puts a new one in its place.\n      - ${text(`${dirname(list.path)}:${containerLists}:ro`)}\n` : ''}      # What was paid for and fetched outlives the container.
      - state:/var/lib/threatweave
${keyFile === undefined ? '' : '    # The container runs as user 1000, who must be able to read the file.\n    secrets: [lookup-key]\n'}    # Status page, health and metrics, for this machine alone.
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

/** Compose replaces what begins with a dollar sign. */
const text = (path: string): string => JSON.stringify(path.replaceAll('$', '$$$$'))
