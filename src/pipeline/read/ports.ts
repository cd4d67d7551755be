// Tells from their ports which of two ends is the service and which came to it.
import { words } from './words.js'

/** Above those that only a service has, the ports at which services listen all the same. */
const high = new Set(
  words(
    '1080 1194 1433 1434 1521 1701 1723 1812 1813 1883 1900 2049 2082 2083 2086 2087 2222 2375 2376 2379 2483 2525 3128 3268 3269 3306 3389 3478 4444 4500 5000 5060 5061 5222 5353 5432 5601 5671 5672 5900 5985 5986 6379 6443 6514 6667 7001 8000 8008 8080 8081 8088 8443 8500 8834 8883 8888 9000 9090 9092 9200 9300 9418 9443 10250 11211 27017',
  ).map(Number),
)

export const isServicePort = (port: number): boolean => (port > 0 && port < 1024) || high.has(port)

/** The first is where the second came to: `198.51.100.1:143 192.0.2.1:65468`. */
export const isSecondFirst = (first: number, second: number): boolean =>
  isServicePort(first) && second > 1023 && !isServicePort(second)
