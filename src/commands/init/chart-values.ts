// The values file that `init` writes for the Helm chart: configuration, secret for the key, and egress of the network policy.
import { isIP } from 'node:net'
import { shellWord } from '../../terminal/shell-word.js'
import type { Answers } from './answers.js'

/** `configuration` is the text of the configuration file. */
export const chartValues = (
  { brokers, keyFile, list }: Answers,
  configuration: string,
): string => `# Written by \`threatweave init\`, for the chart in helm/threatweave: helm install threatweave CHART -f values.yaml
config:
${configuration.replace(/^(?=.)/gm, '  ')}
# One worker; at most as many as the topic has partitions. With a key and several workers, see gateway in the chart's values.
replicas: 1
${
  keyFile === undefined
    ? ''
    : `
# The key. Create the Secret first:
#   kubectl create secret generic threatweave-key --from-file=intel.service.apiKey=${shellWord(keyFile)}
secret:
  existing: threatweave-key
  settings: [intel.service.apiKey]
`
}${
  list !== undefined && 'path' in list
    ? `
# Your list. Create the ConfigMap first:
#   kubectl create configmap threatweave-lists --from-file=${list.name}=${shellWord(list.path)}
extraVolumes:
  - name: lists
    configMap: { name: threatweave-lists }
extraVolumeMounts:
  - { name: lists, mountPath: /etc/threatweave/lists, readOnly: true }
`
    : ''
}
networkPolicy:
  # Where the brokers are; the workers are let out to them at the brokers' ports, and to nothing else inside.
  brokers:
${[...new Set(brokers.map(peerOf))].join('\n')}
`

/** A network policy supports addresses and namespaces, but no host names. */
const peerOf = (broker: string): string => {
  const host = broker.replace(/:\d+$/, '').replace(/^\[|\]$/g, '')
  const version = isIP(host)
  if (version !== 0) return `    - ipBlock: { cidr: ${JSON.stringify(`${host}/${version === 4 ? 32 : 128}`)} }`
  const namespace = /^[^.]+(?:\.[^.]+)*?\.([a-z0-9-]+)\.svc(?:\.|$)/.exec(host)?.[1]
  if (namespace !== undefined)
    return `    - namespaceSelector: { matchLabels: { kubernetes.io/metadata.name: ${JSON.stringify(namespace)} } }`
  if (!host.includes('.')) return '    - podSelector: {} # the namespace of this release'
  return `    # ${host} is a name: put the brokers' range here, such as 192.0.2.0/24, in place of every address.\n    - ipBlock: { cidr: 0.0.0.0/0 }`
}
