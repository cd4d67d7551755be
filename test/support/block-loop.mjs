// Loaded with --import: blocks the event loop most of the time after SIGUSR2.
const blockMs = 7_000
const breatheMs = 50

const block = () => {
  const until = Date.now() + blockMs
  while (Date.now() < until);
  setTimeout(block, breatheMs)
}
process.once('SIGUSR2', block)
