// Types of chart.mjs for the tests.
export const derived: Readonly<Record<string, () => string>>
