// The colours of the page, light or dark by the preference of the reader. Text has a contrast of at least 4.5.

export const colours = `
:root {
  color-scheme: light dark;
  --paper: #f4f6f9; --card: #fff; --ink: #16202c; --soft: #55606f; --edge: #dce1e8; --hover: #f0f4fa;
  --accent: #1d5fc4; --second: #9a4a00;
  --good: #17703a; --good-bg: #e2f4e8; --warn: #845000; --warn-bg: #fff0d2; --bad: #b3211e; --bad-bg: #fde5e3; --idle-bg: #e9edf2;
  --critical: #7d1a6e; --critical-ink: #fff; --high: #c0271d; --high-ink: #fff; --medium: #f2b33d; --medium-ink: #2d1e00;
  --low: #cfe0f7; --low-ink: #173f77; --informational: #e3e7ed; --informational-ink: #3b4653;
  --low-bar: #6c9be0; --informational-bar: #97a3b2;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #0e131a; --card: #171e28; --ink: #e7ecf3; --soft: #a3afc0; --edge: #2a3442; --hover: #1d2632;
    --accent: #74acff; --second: #f0a860;
    --good: #71d795; --good-bg: #12301d; --warn: #f3bd63; --warn-bg: #38290c; --bad: #ff968f; --bad-bg: #421716; --idle-bg: #222b37;
    --critical: #e08cd4; --critical-ink: #2c0426; --high: #ff7b70; --high-ink: #330503; --medium: #efb13c; --medium-ink: #2b1d00;
    --low: #24406b; --low-ink: #cfe0fa; --informational: #303b49; --informational-ink: #d5dde7;
    --low-bar: #5f93dd; --informational-bar: #77859a;
  }
}
`
