// Loads kafkajs with some modules replaced by ours, for the whole process; README.md in this folder lists them with reasons and checks.
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import type * as kafkajs from 'kafkajs'
import { addErrorCodes } from './add-error-codes.js'
import { decodeMessages } from './decode-messages.js'
import { dropAborted } from './drop-aborted.js'
import { encodeProduce } from './encode-produce.js'
import { encodeRequest } from './encode-request.js'
import { endFetchers } from './end-fetchers.js'
import { followCoordinator } from './follow-coordinator.js'
import { leaveGonePartitions } from './leave-gone-partitions.js'
import { freshConnection } from './fresh-connection.js'
import { fetchWhenHandled, handleOnce } from './handle-once.js'
import { keepLastFailure } from './keep-last-failure.js'
import { logInAgain } from './log-in-again.js'
import { addOffsetResetEvent, emitOffsetReset } from './offset-reset.js'
import { refuseMissingPartition } from './missing-partition.js'
import { quietQueue } from './quiet-queue.js'
import { readyBroker } from './ready-broker.js'
import { refusedToken } from './refused-token.js'
import { replaceParts, type Part } from './replace-parts.js'
import { keepAllAnswers, sendMessages } from './send-messages.js'
import { tellHeartbeat } from './tell-heartbeat.js'

const load = createRequire(import.meta.url)

/** The version that our modules were compared with. */
const patchedVersion = '2.2.4'

const fetchResponses = ['v4', 'v5', 'v7', 'v8', 'v11'].map(
  (version) => `protocol/requests/fetch/${version}/response.js`,
)

const parts: readonly Part[] = [
  { path: 'network/requestQueue/index.js', usedBy: ['network/connection.js'], replacement: quietQueue },
  { path: 'consumer/filterAbortedMessages.js', usedBy: ['consumer/batch.js'], replacement: () => dropAborted },
  { path: 'protocol/requests/fetch/v4/decodeMessages.js', usedBy: fetchResponses, replacement: decodeMessages },
  { path: 'producer/sendMessages.js', usedBy: ['producer/messageProducer.js'], replacement: () => sendMessages },
  {
    path: 'protocol/requests/produce/v3/response.js',
    usedBy: ['protocol/requests/produce/v4/response.js', 'protocol/requests/produce/v5/response.js'],
    replacement: keepAllAnswers,
  },
  {
    path: 'protocol/requests/produce/v3/request.js',
    usedBy: ['protocol/requests/produce/v4/request.js', 'protocol/requests/produce/v5/request.js'],
    replacement: () => encodeProduce,
  },
  { path: 'protocol/request.js', usedBy: ['network/connection.js'], replacement: () => encodeRequest },
  {
    path: 'broker/saslAuthenticator/oauthBearer.js',
    usedBy: ['broker/saslAuthenticator/index.js'],
    replacement: () => refusedToken,
  },
  { path: 'broker/saslAuthenticator/index.js', usedBy: ['network/connection.js'], replacement: logInAgain },
  // Must follow the three modules that it uses.
  { path: 'network/connection.js', usedBy: ['network/connectionPool.js'], replacement: freshConnection },
  {
    path: 'consumer/offsetManager/initializeConsumerOffsets.js',
    usedBy: ['consumer/offsetManager/index.js'],
    replacement: refuseMissingPartition,
  },
  // The next two add one event, so they must be in place before the consumer loads.
  { path: 'consumer/instrumentationEvents.js', usedBy: ['consumer/index.js'], replacement: addOffsetResetEvent },
  {
    path: 'consumer/consumerGroup.js',
    usedBy: ['consumer/index.js'],
    replacement: (original) =>
      fetchWhenHandled(leaveGonePartitions(followCoordinator(emitOffsetReset(tellHeartbeat(original))))),
  },
  {
    path: 'consumer/runner.js',
    usedBy: ['consumer/index.js'],
    replacement: (original) => handleOnce(endFetchers(original)),
  },
  { path: 'broker/index.js', usedBy: ['cluster/brokerPool.js'], replacement: readyBroker },
  { path: 'cluster/brokerPool.js', usedBy: ['cluster/index.js'], replacement: keepLastFailure },
]

const root = dirname(load.resolve('kafkajs/package.json'))

const errorTable = load(join(root, 'src/protocol/error.js')) as {
  readonly createErrorFromCode: (code: number) => Error
}

/** The error for a code in an answer that kafkajs did not decode. */
export const kafkaError = (code: number): Error => errorTable.createErrorFromCode(code)

/** Why this kafkajs must not be used, if so; every attempt to create a client fails with it. */
export const refusal: string | undefined = replaceParts(root, patchedVersion, parts) ?? addErrorCodes(errorTable)

export const {
  Kafka,
  KafkaJSConnectionError,
  KafkaJSSASLAuthenticationError,
  logLevel,
  Partitioners,
  CompressionTypes,
  ConfigResourceTypes,
} = load('kafkajs') as typeof kafkajs
