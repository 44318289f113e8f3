import ClockZones
import Commands
import Foundation
import TestSupport
import Testing
import UsageState

@testable import usage_view

/// A line of the protocol as a dictionary.
typealias MCPDocument = [String: Any]

/// Requests of both eras.
enum MCPEra: String, CaseIterable, Sendable {
    case modern = "2026-07-28"
    case legacy = "2025-11-25"

    /// What a client of the era sends first.
    var opening: String {
        self == .modern
            ? request(0, "server/discover")
            : request(
                0, "initialize",
                #""protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"x","version":"1"}"#)
    }

    /// - Parameter members: those of the parameters, without braces.
    func request(_ id: Int, _ method: String, _ members: String = "") -> String {
        let metadata =
            #""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","#
            + #""io.modelcontextprotocol/clientCapabilities":{}}"#
        let all = [self == .modern ? metadata : "", members].filter { !$0.isEmpty }.joined(separator: ",")
        return #"{"jsonrpc":"2.0","id":\#(id),"method":"\#(method)","params":{\#(all)}}"#
    }

    func call(_ id: Int, _ tool: String, _ arguments: String = "") -> String {
        request(id, "tools/call", #""name":"\#(tool)","arguments":{\#(arguments)}"#)
    }
}

/// A server without a process: what it answers about the same usage, of which each wait is over at once.
struct MCPSample {
    var session = MCPSession()
    var data: UsageData
    var now = Sample.now
    var outcome = UsageWaiter.Outcome.reached

    init(_ data: UsageData = InventedUsage().several, opening era: MCPEra? = nil) throws {
        self.data = data
        if let era { _ = try line(era.opening) }
    }

    /// Nil where there is no answer.
    mutating func line(_ line: String) throws -> Data? {
        let answer: MCPAnswer
        switch session.receive(Array(line.utf8)) {
        case .answer(let known): answer = known
        case .read(let call): answer = call.answer(data, now: now, zone: .fixed(secondsFromGMT: 0))
        case .wait(let call):
            answer = call.answer(data, now: now, zone: .fixed(secondsFromGMT: 0), outcome: outcome)
        case .cancel, nil: return nil
        }
        return try JSONOutput.data(answer)
    }

    mutating func answer(_ line: String) throws -> MCPDocument {
        try MCPDocument(parsing: try #require(try self.line(line), "\(line)"))
    }

    mutating func result(_ line: String) throws -> MCPDocument {
        let answer = try answer(line)
        return try #require(answer["result"] as? MCPDocument, "\(answer)")
    }
}

extension MCPDocument {
    init(parsing line: Data) throws {
        self = try #require(try JSONSerialization.jsonObject(with: line) as? MCPDocument)
    }

    subscript(path: String...) -> Any? {
        path.reduce(self as Any?) { ($0 as? MCPDocument)?[$1] }
    }

    /// What a call is answered with as text.
    var text: String { ((self["content"] as? [MCPDocument])?.first?["text"] as? String) ?? "" }
}

/// The real program, and what a client does with it.
final class MCPClient {
    private let program: RunningProgram
    private let input: FileHandle
    private var lines: AsyncStream<String>.Iterator

    init(_ home: TemporaryHome, opening era: MCPEra? = nil) async throws {
        let ends = try #require(PipeEnds(), "no pipe: \(String(cString: strerror(errno)))")
        defer { close(ends.reading) }
        program = try RunningProgram(home, "usage-view", ["mcp"], input: ends.reading)
        input = FileHandle(fileDescriptor: ends.writing, closeOnDealloc: true)
        lines = program.output.makeAsyncIterator()
        if let era {
            try send(era.opening)
            _ = try await answer()
        }
    }

    func send(_ line: String) throws { try input.write(contentsOf: Data((line + "\n").utf8)) }

    func line() async -> String? { await lines.next() }

    func answer() async throws -> MCPDocument {
        try MCPDocument(parsing: Data(try #require(await line(), "the program has ended").utf8))
    }

    func result(_ line: String) async throws -> MCPDocument {
        try send(line)
        let answer = try await answer()
        return try #require(answer["result"] as? MCPDocument, "\(answer)")
    }

    func terminate() { program.send(SIGTERM) }

    func status() async -> Int32? { await program.status() }

    /// Closes the input, and returns the lines that are still there, and the status.
    func end() async throws -> (lines: [String], status: Int32?) {
        try input.close()
        var rest: [String] = []
        while let line = await line() { rest.append(line) }
        return (rest, await program.status())
    }
}
