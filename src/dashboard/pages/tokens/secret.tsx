import type { JSX } from 'preact';

import { Button } from '../../components/button.js';
import { CopyButton } from '../../components/copy-button.js';
import { Panel } from '../../components/panel.js';

/** A token whose secret can still be seen. */
export interface IssuedToken {
  readonly name: string;
  readonly secret: string;
}

/** The secret of a new token, once. It is nowhere else: neither in the daemon nor in the storage of the browser. */
export const Secret = ({ issued: { name, secret }, onForget }: SecretProps): JSX.Element => (
  <Panel title={`Secret of ${name}`} actions={<Button onPress={onForget}>I have kept it</Button>}>
    <div class="note warn" role="alert">
      <p>It is shown this once: the daemon keeps only its hash. It goes when you leave this page.</p>
      <p class="secret">
        <code>{secret}</code>
        <CopyButton text={secret} label="Copy the secret" />
      </p>
    </div>
  </Panel>
);

interface SecretProps {
  readonly issued: IssuedToken;
  readonly onForget: () => void;
}
