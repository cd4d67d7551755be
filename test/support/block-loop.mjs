// Loaded with --import: blocks the event loop most of the time after SIGUSR2.
const blockMs = 7_000
const breatheMs = 50
const nothing = new Int32Array(new SharedArrayBuffer(4))

const block = () => {
  Atomics.wait(nothing, 0, 0, blockMs)
  setTimeout(block, breatheMs)
}
process.once('SIGUSR2', block)
