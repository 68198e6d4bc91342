import type { CommandPart } from './shell/command.js';

/** Commands that are useless without the network. This list decides whether network access is offered, never whether it is granted. */
const networkCommands = [
  'curl; wget; http; https; aria2c; ssh; scp; sftp; rsync; telnet; nc; ncat; ping; dig; nslookup; host; whois; traceroute',
  'npm install; npm i; npm ci; npm add; npm update; npm publish; npm view; npm info; npm audit; npm outdated; npm exec; npm create; npm init',
  'npx; pnpm install; pnpm i; pnpm add; pnpm update; pnpm dlx; pnpm publish; yarn install; yarn add; yarn up; yarn upgrade; yarn dlx; yarn publish',
  'bun install; bun add; bun update; bunx; deno install; deno add; corepack',
  'pip install; pip download; pip3 install; pip3 download; pipx install; pipx run; pipenv install; poetry install; poetry add; poetry update',
  'uv sync; uv add; uv pip install; uv lock; uvx; conda install; conda create; mamba install',
  'git push; git fetch; git pull; git clone; git ls-remote; git remote update; git submodule update; git submodule add; git lfs; gh; glab',
  'cargo install; cargo fetch; cargo add; cargo update; cargo publish; cargo search; rustup; go get; go install; go mod download; go mod tidy',
  'gem install; bundle install; bundle update; composer install; composer require; composer update; mix deps.get; cabal update; stack setup',
  'apt install; apt update; apt-get install; apt-get update; dnf install; yum install; apk add; brew install; brew update; pacman',
  'docker pull; docker push; docker build; podman pull; podman push; podman build; terraform init; helm pull; kubectl; aws; gcloud; az',
].flatMap((line) => line.split('; '));

const networkCommandSet = new Set(networkCommands);
const wordsMax = Math.max(...networkCommands.map((command) => command.split(' ').length));

/** Whether a simple command is known to need the network. */
export function needsNetwork({ words, readings = [] }: CommandPart): boolean {
  return [words, ...readings].some((reading) => {
    const [program, ...rest] = reading.slice(0, wordsMax);
    const name = (program ?? '').replace(/^.*\//s, '');
    return Array.from({ length: wordsMax }, (_, count) => [name, ...rest.slice(0, count)].join(' ')).some((command) =>
      networkCommandSet.has(command),
    );
  });
}
