// Put before a program with --import: from SIGUSR2 on its event loop is held up for most of the time, as by work without end.
const blockMs = 7_000
const breatheMs = 50

const block = () => {
  const until = Date.now() + blockMs
  while (Date.now() < until);
  setTimeout(block, breatheMs)
}
process.once('SIGUSR2', block)
