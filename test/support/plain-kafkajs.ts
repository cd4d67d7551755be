// Before anything of src/ corrects it: what tests of a real broker write and read goes through kafkajs as it is, whichever file comes first.
import 'kafkajs'
