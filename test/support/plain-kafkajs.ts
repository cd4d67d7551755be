// Loads the unmodified kafkajs before src/ can patch it, so that integration tests read and write with the original.
import 'kafkajs'
