// A component whose file is loaded when it is first shown.
import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { messageOf } from '../api.ts';
import { NotLoaded } from './not_loaded.tsx';

export function lazy<Props extends object>(load: () => Promise<{ default: ComponentType<Props> }>): ComponentType<Props> {
  let loaded: ComponentType<Props> | null = null;
  return function Lazy(props: Props) {
    const [, setVersion] = useState(0);
    const [problem, setProblem] = useState('');
    useEffect(() => {
      if (loaded) return;
      load().then(
        (module) => {
          loaded = module.default;
          setVersion((version) => version + 1);
        },
        (error: unknown) => setProblem(messageOf(error)),
      );
    }, []);
    const Loaded = loaded;
    if (Loaded) return <Loaded {...props} />;
    return problem ? <NotLoaded problem={problem} /> : <p class="muted">Loading …</p>;
  };
}
