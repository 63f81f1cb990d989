import { chatEvent, startServer } from '../src/models/loopback.fixture.ts';
import { writeDocument } from '../src/models/offline/author.ts';

type Content = string | readonly { readonly text?: string }[];
type Body = {
  readonly model: string;
  readonly messages: readonly {
    readonly role: 'system' | 'user' | 'assistant';
    content: Content;
  }[];
  readonly response_format?: {
    readonly json_schema?: { readonly schema: Record<string, unknown> };
  };
};

const textOf = (content: Content): string =>
  typeof content === 'string' ? content : content.map((part) => part.text ?? '').join('');

/**
 * An OpenAI-compatible server on loopback whose models write what the offline author would: valid
 * documents, at once, through a provider's wire format. Every second one is the skeptic. `instead` may
 * answer a prompt that asks for something else; without `usage` the tokens are not told. `spoil` changes
 * what is written in answer to a conversation that begins with a prompt.
 */
export const startAuthorServer = (
  models: readonly string[],
  instead: (prompt: string) => unknown = () => undefined,
  { usage: isReported = true, spoil = (text: string, _first: string): string => text } = {},
) =>
  startServer((request, response, body) => {
    if (request.method === 'GET') {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ data: models.map((id) => ({ id })) }));
      return;
    }
    const { model, messages, response_format } = JSON.parse(body) as Body;
    const texts = messages.map(({ role, content }) => ({ role, content: textOf(content) }));
    const schema = response_format?.json_schema?.schema;
    const asked = {
      model,
      system: texts.find(({ role }) => role === 'system')?.content ?? '',
      messages: texts.flatMap(({ role, content }) => (role === 'system' ? [] : { role, content })),
      ...(schema === undefined ? {} : { schema: { name: 'document', schema } }),
    };
    const persona = models.indexOf(model) % 2 === 0 ? 'builder' : 'skeptic';
    const other = instead(asked.messages.at(-1)?.content ?? '');
    const written = other === undefined ? writeDocument(asked, persona) : JSON.stringify(other);
    const answered = asked.messages.findIndex(({ role }) => role === 'assistant');
    const prompt = asked.messages.slice(0, answered < 0 ? undefined : answered);
    const text = spoil(written, [model, ...prompt.map(({ content }) => content)].join('\n'));
    const tokens = (length: number): number => Math.ceil(length / 4);
    const prompt_tokens = tokens(texts.reduce((sum, { content }) => sum + content.length, 0));
    const usage = { prompt_tokens, completion_tokens: tokens(text.length) };
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(chatEvent(text) + chatEvent('', 'stop'));
    const told = JSON.stringify({ id: 'c1', choices: [], ...(isReported && { usage }) });
    response.end(`data: ${told}\n\ndata: [DONE]\n\n`);
  });
