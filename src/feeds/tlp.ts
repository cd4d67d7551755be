// Normalizes Traffic Light Protocol markings, which limit how far an entry may be shared.

const colours = /^(?:tlp[:_-]?\s*)?(clear|white|green|amber\+strict|amber|red)$/i

/** `tlp:amber` for `TLP:AMBER`, `amber` and similar; undefined for anything else. */
export const tlpOf = (text: string | undefined): string | undefined => {
  const colour = text === undefined ? undefined : colours.exec(text.trim())?.[1]
  return colour && `tlp:${colour.toLowerCase()}`
}

/** The markings that STIX defines for both versions of the protocol. A bundle may refer to them without containing them. */
export const stixMarkings: ReadonlyMap<string, string> = new Map([
  ['marking-definition--613f2e26-407d-48c7-9eca-b8e91df99dc9', 'tlp:white'],
  ['marking-definition--34098fce-860f-48ae-8e50-ebd3cc5e41da', 'tlp:green'],
  ['marking-definition--f88d31f6-486f-44da-b317-01333bde0b82', 'tlp:amber'],
  ['marking-definition--5e57c739-391a-4eb3-b6be-7d15ca92d5ed', 'tlp:red'],
  ['marking-definition--94868c89-83c2-464b-929b-a1a8aa3c8487', 'tlp:clear'],
  ['marking-definition--bab4a63c-aed9-4cf5-a766-dfca5abac2bb', 'tlp:green'],
  ['marking-definition--55d920b0-5e8b-4f79-9ee9-91f868d9b421', 'tlp:amber'],
  ['marking-definition--826578e1-40ad-459f-bc73-ede076f81f37', 'tlp:amber+strict'], // OpenCTI's own
  ['marking-definition--939a9414-2ddd-4d32-a0cd-375ea402b003', 'tlp:amber+strict'],
  ['marking-definition--e828b379-4e03-4974-9ac4-e53a884c97c1', 'tlp:red'],
])
