import ArgumentParser
import Commands
import Essentials

extension UsageView {
    struct MCPCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "mcp",
            abstract: "Let agents read the limits: an MCP server on standard input and output.",
            discussion: """
                A client starts it and ends it by closing its standard input. The tools limits, cost and \
                machines, and the resources usage://limits, usage://cost and usage://machines, are what \
                --json shows of all machines; wait_until_reset waits, an hour at most. None of them \
                changes anything, and nothing else can be read or run. docs/mcp.md has more.

                CLAUDE CODE
                  claude mcp add limits -- usage-view mcp

                CODEX, in ~/.codex/config.toml
                  [mcp_servers.limits]
                  command = "usage-view"
                  args = ["mcp"]

                EXIT STATUS
                  0 the client has closed the input or the output · 64 usage error · 74 the output \
                cannot be written
                """)

        @OptionGroup var reading: ReadingOptions

        func run() async throws { try await MCPServer(reading).run() }
    }
}
