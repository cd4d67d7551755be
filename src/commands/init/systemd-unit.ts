// The systemd unit that `init` writes: a dynamic user, credentials passed by systemd, and restarts.
import { join } from 'node:path'
import { leanMalloc, roomForEvents } from '../../app/room-for-events.js'
import { packageFolder } from '../../base/package-folder.js'
import type { Answers } from './answers.js'

/** `configFile` as an absolute path. */
export const systemdUnit = (
  { keyFile, list }: Answers,
  configFile: string,
): string => `# Written by \`threatweave init\`; for systemd 250 or newer. To install it:
#   sudo cp threatweave.service /etc/systemd/system/
#   sudo systemctl daemon-reload && sudo systemctl enable --now threatweave
#   journalctl -u threatweave -f
[Unit]
Description=Threatweave adds threat intelligence to a log stream
Wants=network-online.target
After=network-online.target

[Service]
Type=exec
ExecStart=${[process.execPath, roomForEvents, join(packageFolder, 'dist/cli.js')].map(word).join(' ')} run --config %d/threatweave.yaml
# systemd reads these files as root and shows them to this service alone: they may be readable for nobody else.
LoadCredential=threatweave.yaml:${specifiers(configFile)}
${
  keyFile === undefined
    ? ''
    : `LoadCredential=lookup-key:${specifiers(keyFile)}
Environment=THREATWEAVE_INTEL_SERVICE_API_KEY_FILE=%d/lookup-key
`
}${
  list !== undefined && 'path' in list
    ? `# The list ${list.path} is read while the service runs, so it must be readable for every user.\n`
    : ''
}# What was paid for and fetched is kept in /var/lib/threatweave.
StateDirectory=threatweave
Environment=XDG_STATE_HOME=/var/lib
Environment=${Object.entries(leanMalloc)
  .map(([name, value]) => `${name}=${value}`)
  .join(' ')}
# It waits for brokers by itself. A wrong configuration (78) is not tried again.
Restart=on-failure
RestartSec=5
RestartPreventExitStatus=64 78
# Longer than kafka.limits.drainMs: what is in progress is finished first.
TimeoutStopSec=35
DynamicUser=yes
UMask=0077
ProtectHome=read-only
ProtectClock=yes
ProtectControlGroups=yes
ProtectKernelModules=yes
ProtectKernelTunables=yes
PrivateDevices=yes
RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX AF_NETLINK
CapabilityBoundingSet=

[Install]
WantedBy=multi-user.target
`

/** Escapes percent signs, which systemd would expand. */
const specifiers = (text: string): string => text.replaceAll('%', '%%')

const word = (text: string): string => {
  const plain = specifiers(text).replaceAll('$', '$$$$')
  return /[\s"'\\]/.test(plain) ? `"${plain.replace(/["\\]/g, '\\$&')}"` : plain
}
