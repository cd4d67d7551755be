// What is wrong with the settings of Kafka and the files that they name, before anything is connected to.
import type { Problem } from '../config/problem.js'
import type { Config } from '../config/schema.js'
import { settingsProblems } from '../kafka/settings-problems.js'
import { readNamed, tlsProblems } from './tls-problems.js'

export const kafkaProblems = (kafka: Config['kafka']): Problem[] => {
  const { tls, sasl } = kafka
  const problems: Problem[] = [...settingsProblems(kafka)]
  if (sasl.mechanism === 'oauthbearer') readNamed('kafka.sasl.tokenFile', sasl.tokenFile, problems)
  const files = {
    ca: ['caFile', tls.caFile],
    cert: ['certificateFile', tls.certificateFile],
    key: ['keyFile', tls.keyFile],
  } as const
  return [...problems, ...tlsProblems('kafka.tls', files, tls.keyPassphrase)]
}
