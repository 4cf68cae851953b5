"""An application as dendrux's documentation has developers write it: the package's read router, and write routes of one's own.

It knows nothing of the bridge, and an answer to a decision comes when the run pauses again or ends. `BRIDGE=1` mounts the bridge in
place of all that. Prints one line of JSON when it is ready, `{"url", "token", "dendrux", "runs": [{"input", "run_id", "status"}]}`,
and ends by SIGTERM or after MAX_S seconds.

DATABASE (a file; default: one that is gone afterwards), TOKEN, PORT (0: any), PREFIX, NAME (the agent's), SEED (a JSON list of what
`dendrux_agent` is to do, each run until it waits or ends), MAX_S (120).
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import socket
import sys
import tempfile
from collections.abc import AsyncIterator, Coroutine
from importlib import metadata
from pathlib import Path
from typing import Any

import dendrux
import uvicorn
from dendrux.errors import (
    InvalidToolResultError,
    PauseStatusMismatchError,
    PersistenceNotConfiguredError,
    RunAlreadyClaimedError,
    RunAlreadyTerminalError,
    RunNotFoundError,
    RunNotPausedError,
)
from dendrux.http import make_read_router
from dendrux.store import RunStore
from dendrux.types import ToolResult
from fastapi import APIRouter, Depends, FastAPI, HTTPException, Request

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[2] / "assets" / "bridges" / "dendrux")]

import dendrux_agent

TOKEN = os.environ.get("TOKEN", "plain-token")
PREFIX = os.environ.get("PREFIX", "/dendrux")
MAX_S = float(os.environ.get("MAX_S", "120"))
SEED: list[Any] = json.loads(os.environ.get("SEED", "[]"))


async def authorize(request: Request) -> None:
    if request.headers.get("authorization") != f"Bearer {TOKEN}":
        raise HTTPException(401, "unauthorized")


async def answered(submit: Coroutine[Any, Any, Any]) -> dict[str, Any]:
    try:
        result = await submit
    except RunNotFoundError as error:
        raise HTTPException(404, str(error)) from error
    except (RunNotPausedError, PauseStatusMismatchError, RunAlreadyClaimedError, RunAlreadyTerminalError) as error:
        raise HTTPException(409, str(error)) from error
    except (InvalidToolResultError, ValueError) as error:
        raise HTTPException(400, str(error)) from error
    except PersistenceNotConfiguredError as error:
        raise HTTPException(500, str(error)) from error
    return {"status": result.status.value, "answer": result.answer}


def write_routes(agent: dendrux.Agent) -> APIRouter:
    routes = APIRouter(dependencies=[Depends(authorize)])

    @routes.post("/runs/{run_id}/approval")
    async def approval(run_id: str, body: dict[str, Any]) -> dict[str, Any]:
        if "decisions" not in body:
            reason = body.get("rejection_reason")
            return await answered(agent.submit_approval(run_id, approved=body["approved"], rejection_reason=reason))
        kind: Any = getattr(dendrux, "ApprovalDecision", None)
        if kind is None:
            raise HTTPException(422, "this version takes no decisions")
        return await answered(agent.submit_approval(run_id, decisions={it: kind(**said) for it, said in body["decisions"].items()}))

    @routes.post("/runs/{run_id}/tool-results")
    async def tool_results(run_id: str, body: list[dict[str, Any]]) -> dict[str, Any]:
        return await answered(agent.submit_tool_results(run_id, [ToolResult(**result) for result in body]))

    @routes.post("/runs/{run_id}/input")
    async def text(run_id: str, body: dict[str, Any]) -> dict[str, Any]:
        return await answered(agent.submit_input(run_id, body["text"]))

    @routes.post("/runs/{run_id}/cancel")
    async def cancel(run_id: str) -> dict[str, Any]:
        return await answered(agent.cancel_run(run_id))

    return routes


async def main(database: str) -> None:
    url = f"sqlite+aiosqlite:///{database}"
    agent = dendrux_agent.build_agent(url, os.environ.get("NAME", "Storekeeper"))
    store = RunStore.from_database_url(url)
    listener = socket.create_server(("127.0.0.1", int(os.environ.get("PORT", "0"))))

    @contextlib.asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        runs = []
        for script in SEED:
            result = await agent.run(json.dumps(script), metadata={"ticket": "T-7"})
            runs.append({"input": script, "run_id": result.run_id, "status": result.status.value})
        address = f"http://127.0.0.1:{listener.getsockname()[1]}{PREFIX}"
        print(json.dumps({"url": address, "token": TOKEN, "dendrux": metadata.version("dendrux"), "runs": runs}), flush=True)
        yield
        await agent.close()
        await store.close()

    app = FastAPI(lifespan=lifespan)
    if os.environ.get("BRIDGE"):
        from placet_dendrux import Bridge, bearer

        app.include_router(Bridge(agent, store=store, authorize=bearer(TOKEN)).router, prefix=PREFIX)
    else:
        app.include_router(make_read_router(store=store, authorize=authorize), prefix=PREFIX)
        app.include_router(write_routes(agent), prefix=PREFIX)
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=1))
    end = asyncio.get_running_loop().call_later(MAX_S, server.handle_exit, signal.SIGTERM, None)
    await server.serve([listener])
    end.cancel()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(main(os.environ.get("DATABASE") or str(Path(folder) / "runs.db")))
