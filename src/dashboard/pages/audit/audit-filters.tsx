import type { JSX } from 'preact';

import { Button } from '../../components/button.js';
import { AUDIT_EVENTS } from '../../../core/audit.js';
import { useDashboard } from '../../state/context.js';
import { type Filter, FILTERS } from './audit-query.js';

/** The filters of the page. They are in the address. */
export function AuditFilters(): JSX.Element {
  const { router } = useDashboard();
  const { query } = router.route.value;
  const isAny = FILTERS.some((name) => (query[name] ?? '') !== '');
  const clear = () => {
    router.setQuery(Object.fromEntries(FILTERS.map((name) => [name, ''])));
  };
  return (
    <search class="filters" aria-label="Filters">
      <TextFilter name="text" title="Text" kind="search" />
      <EventFilter />
      <TextFilter name="principal" title="Token" />
      <TextFilter name="session_id" title="Session" />
      <TextFilter name="command_id" title="Command" />
      <TextFilter name="since" title="From" kind="datetime-local" />
      <TextFilter name="until" title="To" kind="datetime-local" />
      <Button onPress={clear} whyNot={isAny ? undefined : 'There is no filter.'}>
        Clear
      </Button>
    </search>
  );
}

interface TextFilterProps {
  readonly name: Filter;
  readonly title: string;
  readonly kind?: 'text' | 'search' | 'datetime-local';
}

const TYPES = {
  text: { type: 'text' },
  search: { type: 'search' },
  'datetime-local': { type: 'datetime-local' },
} as const;

function TextFilter({ name, title, kind = 'text' }: TextFilterProps): JSX.Element {
  const { router } = useDashboard();
  return (
    <label class="field">
      <span>{title}</span>
      <input
        {...TYPES[kind]}
        autoComplete="off"
        spellcheck={false}
        maxLength={256}
        value={router.route.value.query[name] ?? ''}
        onInput={({ currentTarget }) => {
          router.setQuery({ [name]: currentTarget.value });
        }}
      />
    </label>
  );
}

function EventFilter(): JSX.Element {
  const { router } = useDashboard();
  return (
    <label class="field">
      <span>Event</span>
      <select
        value={router.route.value.query['event'] ?? ''}
        onChange={({ currentTarget }) => {
          router.setQuery({ event: currentTarget.value });
        }}
      >
        <option value="">all</option>
        {Object.keys(AUDIT_EVENTS).map((name) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}
