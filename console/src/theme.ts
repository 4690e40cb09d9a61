// Light and dark: the browser's preference, or the user's choice.
import { Store } from './lib/store.ts';

export type Theme = 'auto' | 'light' | 'dark';
const name = 'penstock-theme';

function stored(): Theme {
  const value = localStorage.getItem(name);
  return value === 'light' || value === 'dark' ? value : 'auto';
}

export const theme = new Store<Theme>(stored());

// Changes when colours on canvases must be read again.
export const darkness = new Store<boolean>(false);

const preference = matchMedia('(prefers-color-scheme: dark)');

function apply(): void {
  document.documentElement.dataset['theme'] = theme.value;
  darkness.set(theme.value === 'dark' || (theme.value === 'auto' && preference.matches));
}

export function startTheme(): void {
  preference.addEventListener('change', apply);
  apply();
}

export function selectTheme(value: Theme): void {
  localStorage.setItem(name, value);
  theme.set(value);
  apply();
}

// The colour of a design token, as canvases need it: custom properties are only resolved within a style.
export function tokenColour(token: string): string {
  const probe = document.createElement('span');
  probe.hidden = true;
  probe.style.color = `var(${token})`;
  document.body.append(probe);
  const colour = getComputedStyle(probe).color;
  probe.remove();
  return colour;
}
