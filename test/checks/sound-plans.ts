import { gatherPlan } from '../../src/checks/gather-plan.ts';
import type { CheckInput } from '../../src/checks/types.ts';
import { loadHolidays } from '../../src/platform/holidays.ts';
import type { Contract } from '../../src/recipe/types.ts';
import { shippedWhole } from '../recipes/shipped.ts';

type Raw = Record<string, unknown>;
type Records = Raw[];

/** The documents of a result, as writers of the shipped process give them. */
export type SoundPlan = {
  readonly today: string;
  readonly requirements: { answer: string; demands: Records };
  readonly architecture: { answer: string; operation: string[] };
  readonly plan: {
    answer: string;
    calendar: Raw;
    people: Records;
    milestones: Records;
    costs: Records;
    gates: Records;
    prices: Records;
    what_if: Records;
    risks: Records;
  };
  readonly work_plan: { answer: string; work_items: Records; drills: Records };
};

const work = (
  id: string,
  owner: string,
  [low, high]: readonly [number, number],
  week: number,
  needs: readonly string[],
  demands: readonly string[],
  cost = 0,
): Raw => ({
  id,
  title: `Work of ${id}`,
  owner,
  effort_low: low,
  effort_high: high,
  earliest_week: week,
  cost,
  needs,
  demands,
  done_when: ['It is seen to work.'],
});

/** Three founders in the United States sell interviews by subscription. */
export const hiringPlan = (): SoundPlan => ({
  today: '2026-11-19',
  requirements: {
    answer: 'Small firms compare applicants by the same questions. It opens on [[date.opening]].',
    demands: [
      { id: 'D1', text: 'Interview notes side by side', met_by: 'R1' },
      { id: 'D2', text: 'Invite a colleague', met_by: 'R2' },
      { id: 'D3', text: 'Launch in 4 months', kind: 'limit', measure: 'date', amount: 17 },
    ],
  },
  architecture: {
    answer: 'One server and one database; both hold 150 % of the expected load in the drill.',
    operation: ['An alarm answers within 24 hours. Backups are kept for 720 hours.'],
  },
  plan: {
    answer:
      'It opens on [[date.opening]]; the work takes [[hours.planned]] of [[hours.available]]. ' +
      'Until then it costs 2,860 USD in all, and 140 USD a month from then on.',
    calendar: {
      country: 'US',
      start: '2026-11-30',
      opening: '2027-03-16',
      opening_needs: ['W8'],
      promised: '2027-03-26',
    },
    people: [
      { name: 'Ana', hours_per_week: 25, pay_per_hour: 40 },
      { name: 'Ben', hours_per_week: 20, pay_per_hour: 40 },
      { name: 'Chris', hours_per_week: 15, days_off: '2026-12-21 to 2027-01-01' },
    ],
    milestones: [
      { title: 'Ten interviews', weeks: '1-3', outcome: 'Two firms would pay.' },
      { title: 'First version', weeks: '4-10', outcome: 'A firm compares applicants.' },
      { title: 'Pilot and opening', weeks: '11-16', outcome: 'Five firms pay.' },
    ],
    costs: [
      { item: 'Trademark search', amount: 1_180, currency: 'USD', period: 'once' },
      { item: 'Server and mail', amount: 140, currency: 'USD', period: 'month', months: 12 },
    ],
    gates: [
      { when: 'week 3', measure: 'Firms that would pay', evidence: ['W1'], go_if: 2, stop_if: 0 },
      { when: '2027-03-01', measure: 'Pilot firms', evidence: ['W7'], go_if: 5, stop_if: 1 },
    ],
    prices: [{ item: 'A firm', price: 49, unit_cost: 7, currency: 'USD', period: 'month' }],
    what_if: [{ if: 'Half again as much work comes to 560 hours in all.' }],
    risks: [{ risk: 'A share of 60 % of firms leaves.', sign: 'Logins', response: 'Ask them.' }],
  },
  work_plan: {
    answer:
      'In all the items take 269 to 372 hours. Ben has 20 hours a week, Ana gives 25 hours a week.',
    work_items: [
      work('W1', 'Chris', [18, 26], 1, [], ['D1']),
      work('W2', 'Ana', [35, 45], 1, [], ['D1']),
      work('W3', 'Ben', [25, 36], 1, [], ['D1']),
      work('W4', 'Ana', [60, 80], 4, ['W2'], ['D1']),
      work('W5', 'Ben', [55, 75], 4, ['W3'], ['D2']),
      work('W6', 'Chris', [24, 36], 8, ['W1'], ['D2'], 1_180),
      work('W7', 'Ana', [22, 30], 11, ['W4', 'W5'], ['D3']),
      work('W8', 'Ben', [30, 44], 12, ['W5'], ['D3']),
    ],
    drills: [{ do: 'Pull the plug', expect: 'Work goes on', week: 'week 12' }],
  },
});

/** Two bakers in Berlin, a freelance developer, 15,000 euros, documents in German. */
export const bakersPlan = (): SoundPlan => ({
  today: '2026-11-19',
  requirements: {
    answer: 'Kunden bestellen bis 18 Uhr vor. Geöffnet wird am [[date.opening]].',
    demands: [
      { id: 'D1', text: 'Vorbestellen bis 18 Uhr', met_by: 'R1' },
      { id: 'D2', text: 'Eine gedruckte Seite', met_by: 'R2' },
      {
        id: 'D3',
        text: '15.000 Euro im ersten Jahr',
        kind: 'limit',
        measure: 'money',
        amount: 15_000,
        unit: 'EUR',
        per: 'year',
      },
      {
        id: 'D4',
        text: 'Eine Stunde pro Woche',
        kind: 'limit',
        measure: 'effort',
        amount: 1,
        unit: 'hours',
        per: 'week',
        who: 'die Bäcker',
      },
    ],
  },
  architecture: {
    answer: 'Ein Server in Frankfurt und ein Drucker im Laden.',
    operation: ['Fällt er aus, druckt der Laden innerhalb von 2 Stunden von Hand.'],
  },
  plan: {
    answer:
      'Insgesamt kostet es [[cost.total]], davon [[cost.month]] im Monat; der Aufwand ist [[hours.planned]]. ' +
      'Woche 1 beginnt am Montag, 4. Januar 2027.',
    calendar: {
      country: 'DE-BE',
      language: 'de',
      start: '2027-01-04',
      opening: '2027-03-16',
      opening_needs: ['W5'],
      promised: '2027-03-31',
    },
    people: [
      { name: 'die Bäcker', hours_per_week: 1 },
      { name: 'Entwicklerin', hours_per_week: 20, days_off: '2027-02-01 to 2027-02-05' },
    ],
    milestones: [
      { title: 'Gefragt', weeks: '1-2', outcome: 'Zehn Kunden wollen es.' },
      { title: 'Gebaut', weeks: '3-8', outcome: 'Die Seite druckt.' },
      { title: 'Probe', weeks: '9-11', outcome: 'Ein Samstag ohne Zettel.' },
    ],
    costs: [
      { item: 'Entwicklung (W3, W4, W5)', amount: 8_800, currency: 'EUR', period: 'once' },
      { item: 'Drucker', amount: 800, currency: 'EUR', period: 'once' },
      { item: 'Server', amount: 20, currency: 'EUR', period: 'month', months: 12 },
    ],
    gates: [
      { when: 'Woche 2', measure: 'Zusagen', evidence: ['W1'], go_if: '10', stop_if: 'unter 5' },
    ],
    prices: [],
    what_if: [],
    risks: [],
  },
  work_plan: {
    answer: 'Die Entwicklerin hat 20 Stunden pro Woche.',
    work_items: [
      work('W1', 'die Bäcker', [1, 1.5], 1, [], ['D1']),
      work('W2', 'Entwicklerin', [12, 20], 1, [], ['D1']),
      work('W3', 'Entwicklerin', [30, 40], 3, ['W1', 'W2'], ['D1'], 3_200),
      work('W4', 'Entwicklerin', [22, 30], 6, ['W3'], ['D2'], 2_400),
      work('W5', 'Entwicklerin', [20, 32], 9, ['W4'], ['D2'], 3_200),
    ],
    drills: [],
  },
});

/** A clinic in Riyadh, whose week begins on Sunday; nothing is sold and no sum is set. */
export const clinicPlan = (): SoundPlan => ({
  today: '2026-11-19',
  requirements: {
    answer: 'Patients choose their appointment on the telephone, and 90 % of all patients keep it.',
    demands: [
      { id: 'D1', text: 'Choose an appointment', met_by: 'R1' },
      {
        id: 'D2',
        text: 'No data leaves the kingdom',
        kind: 'limit',
        measure: 'place',
        met_by: 'R2',
      },
    ],
  },
  architecture: {
    answer: 'A telephone menu and the calendar of the clinic.',
    operation: ['Noura looks at the failed calls for 2 hours a week.'],
  },
  plan: {
    answer: 'Week 1 begins on 3 January 2027 in the clinic, and it opens on Monday, 12 April 2027.',
    calendar: { country: 'SA', start: '2026-12-28', opening: '2027-04-12', opening_needs: ['W3'] },
    people: [
      { name: 'Noura', hours_per_week: 12 },
      { name: 'Technician', hours_per_week: 40, from_week: 3 },
    ],
    milestones: [
      { title: 'Menu', weeks: '1-6', outcome: 'A call is answered.' },
      { title: 'Trial', weeks: '7-15', outcome: 'A ward uses it.' },
    ],
    costs: [{ item: 'Telephone numbers', amount: 900, currency: 'SAR', period: 'year' }],
    gates: [
      {
        when: '2027-02-14',
        measure: 'Calls answered',
        evidence: ['W2'],
        go_if: '95 %',
        stop_if: '50 %',
      },
    ],
    prices: [],
    what_if: [],
    risks: [],
  },
  work_plan: {
    answer: 'The whole work is estimated at [[hours.low]] to [[hours.high]] hours.',
    work_items: [
      work('W1', 'Noura', [20, 30], 1, [], ['D1']),
      work('W2', 'Technician', [60, 90], 3, ['W1'], ['D1']),
      work('W3', 'Technician', [80, 120], 8, ['W2'], ['D1', 'D2']),
    ],
    drills: [],
  },
});

export const SOUND_PLANS = { hiring: hiringPlan, bakers: bakersPlan, clinic: clinicPlan };

const { contracts } = shippedWhole('software-plan').stages.find(({ key }) => key === 'result')!;
const findCountry = await loadHolidays();

/** The contract of a document of the result. */
export const contractOf = (key: string): Contract => contracts[`contracts/${key}.yaml`]!;

/** A plan as the checks read it. */
export function readSound({ today, ...documents }: SoundPlan): CheckInput {
  const made = Object.entries(documents).map(([key, content]) => {
    const contract = contractOf(key);
    return { title: contract.title, contract, content };
  });
  return { ...gatherPlan(made), today, findCountry };
}
