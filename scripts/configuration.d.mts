// Types of configuration.mjs for the tests.
export const configurationReference: () => string
