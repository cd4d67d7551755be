// Every path under which an operation answers: the given one first, then the other spellings that clients use.
import { operations, pathProfiles, type OperationName } from '../provider/operations.js'

const others: { readonly [name in OperationName]?: readonly string[] } = {
  'ip/malicious-info': ['/v2/feature/ip/malicious-info'],
  'ip/is_safe_dns_server': ['/v1/feature/ip/is-safe-dns-server'],
  'ip/suspicious_info': ['/v1/ip/suspicious-info', '/v2/feature/ip/suspicious-info'],
  'domain/report': ['/v2/domain/report/{id}'],
}

export const pathsOf = (name: OperationName): readonly string[] => {
  const other = pathProfiles.feature[name]
  return [operations[name].path, ...(other === undefined ? [] : [other]), ...(others[name] ?? [])]
}
