import { render } from 'preact';
import { App } from './app.tsx';
import { startLive } from './live.ts';
import { startRouter } from './router.ts';
import './styles/tokens.css';
import './styles/base.css';
import './styles/shell.css';
import './styles/components.css';
import { startTheme } from './theme.ts';

startTheme();
startRouter();
startLive();
render(<App />, document.getElementById('app')!);
