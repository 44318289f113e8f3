import Foundation
import HTTPTypes
import KVStore
import KVStoreWire
import NIOCore
import ServerTestSupport
import Synchronization
import Testing

@testable import KVStoreEmulator
import KVStoreServer

/// A session that was recorded happens again, byte for byte.
@Suite("Recording and replaying", .timeLimit(.minutes(2)))
struct RecordTests {
    /// The record of a session.
    private func record(_ body: (EmulatorClient) async throws -> Void) async throws -> Data {
        let record = Mutex(Data())
        try await EmulatorClient.run(record: { line in record.withLock { $0 += line } }, body)
        return record.withLock { $0 }
    }

    private func lines(_ record: Data) -> [String] {
        String(decoding: record, as: UTF8.self).split(separator: "\n").map(String.init)
    }

    /// Devices that write, remove, read and stream while their network loses, delays and doubles messages.
    private func session(_ client: EmulatorClient) async throws {
        func administer(_ method: HTTPRequest.Method, _ path: String, _ body: String) async throws {
            let answer = try await client.administer(method, "/worlds/w\(path)", body: body)
            try #require(answer.status.kind == .successful, "\(answer.text)")
        }
        try await administer(
            .put, "/export",
            #"{"stores":[{"store":"s","values":[{"key":"k","type":"string","value":"v"}]}],"version":1}"#)
        for fault in [
            #"{"effect":"drop","probability":0.3}"#, #"{"effect":"duplicate","probability":0.3}"#,
            #"{"effect":"fail","reason":"full","probability":0.1,"seed":3}"#,
            #"{"effect":"delay","milliseconds":3,"probability":0.5}"#,
            #"{"effect":"reorder","milliseconds":20,"messages":["event"]}"#,
        ] { try await administer(.post, "/devices/phone/faults", fault) }
        let reader = try? await client.stream("/v1/stores/s/changes", token: "w/phone")
        for number in 0..<60 {
            // A lost message ends in an error.
            _ = try? await client.put("\(number)", "k\(number % 7)", token: "w/phone")
            try await client.put("mac \(number)", "k\(number % 5)", token: "w/mac")
            if number % 9 == 0 { _ = try? await client.sync(token: "w/phone") }
            if number == 20 {
                try await administer(.put, "/settings", #"{"quota":{"profile":"classic","totalByteCount":60}}"#)
            }
            if number == 30 { try await administer(.put, "/clock", #"{"advance":70000}"#) }
            if number == 40 {
                try await administer(.put, "/devices/phone/account", #"{"account":"B"}"#)
            }
        }
        _ = try await client.administer(.post, "/worlds/w/settle?quiet=20")
        let message = WireBinary.encode(
            SyncRequest(replica: Samples.replica, since: nil, changes: [Samples.change("binary")]))
        let answer = try await client.execute(
            .post, "/v1/stores/s/sync", token: "w/mac",
            headers: [.contentType: MediaType.sync, .accept: MediaType.sync], bytes: Data(message))
        #expect(answer.status == .ok)
        let field = try #require(HTTPField.Name(DeviceAccount.field))
        for (account, status) in [("B", HTTPResponse.Status.conflict), ("default", .ok)] {
            let answer = try await client.execute(.get, "/v1/stores/s/keys", token: "w/mac", headers: [field: account])
            #expect(answer.status == status, "\(answer.text)")
        }
        _ = try await client.administer(.delete, "/worlds/w")
        await reader?.connection.close()
    }

    @Test("a session with faults replays to the same record, and again to the same")
    func replay() async throws {
        let record = try await record(session)
        #expect(lines(record).count > 300)
        for _ in 1...2 {
            let again = Mutex(Data())
            let report = try await Emulator.replay(record) { line in again.withLock { $0 += line } }
            #expect(report.difference == nil && !report.isCut)
            #expect(report.requestCount > 120)
            #expect(again.withLock { $0 } == record)
        }
    }

    @Test("the first line that differs is named for a changed record")
    func difference() async throws {
        let record = try await record { client in
            try await client.put("1", "k", token: "w/phone")
            try await client.put("2", "k", token: "w/phone")
        }
        let lines = lines(record)
        let index = try #require(lines.lastIndex { $0.contains(#""answers""#) })
        var changed = lines
        changed[index] = changed[index].replacing(#""status":200"#, with: #""status":201"#)
        try #require(changed != lines)
        let report = try await Emulator.replay(Data((changed.joined(separator: "\n") + "\n").utf8))
        #expect(
            report.difference
                == ReplayReport.Difference(line: index + 1, recorded: changed[index], replayed: lines[index]))
    }

    @Test("the beginning of a record replays too, up to a line that was cut")
    func truncated() async throws {
        let record = try await record { client in
            for number in 0..<5 { try await client.put("\(number)", "k", token: "w/phone") }
        }
        let report = try await Emulator.replay(record.dropLast(20))
        #expect(report.requestCount == 5)
        // The answer whose line was cut comes again.
        #expect(report.difference == nil && report.isCut)
    }

    @Test("answers that a record lacks at its end are no difference, a cut line with other text is one")
    func unfinished() async throws {
        let record = try await record { client in
            for number in 0..<2 { try await client.put("\(number)", "k", token: "w/phone") }
        }
        let lines = lines(record)
        let index = try #require(lines.lastIndex { $0.contains(#""answers""#) })
        let answered = lines[index]
        let rest = lines[..<index].joined(separator: "\n") + "\n"
        let unanswered = try await Emulator.replay(Data(rest.utf8))
        #expect(unanswered.difference == nil && unanswered.isCut)
        let changed = answered.replacing(#""status":200"#, with: #""status":201"#).dropLast(2)
        try #require(!answered.hasPrefix(changed))
        let different = try await Emulator.replay(Data((rest + changed).utf8))
        #expect(different.difference?.line == index + 1)
        #expect(different.difference?.recorded == String(changed))
    }

    @Test("a stream that is refused for its position is refused in a replay")
    func position() async throws {
        let record = try await record { client in
            try await client.put("1", "k", token: "w/phone")
            let field = try #require(HTTPField.Name("Last-Event-ID"))
            for position in ["x", "-1", ""] {
                for path in ["/v1/stores/s/changes", "/emulator/v1/events"] {
                    let refused = try await client.execute(.get, path, token: "w/phone", headers: [field: position])
                    #expect(refused.status == .badRequest && refused.problemCode == "malformed")
                }
            }
            var stream = try await client.stream("/v1/stores/s/changes", token: "w/phone", more: "Last-Event-ID: 1\r\n")
            #expect(await stream.nextEvent()?.name == "opened")
            await stream.connection.close()
        }
        #expect(lines(record).count { $0.contains(#""status":400"#) } == 3)
        #expect(!lines(record).contains { $0.contains("/emulator/") })
        #expect(try await Emulator.replay(record).difference == nil)
    }

    @Test(
        "what is not a record is refused with the number of the line",
        arguments: [
            ("", 1), ("{}\n", 1), ("hello\n", 1), (#"{"record":{"seed":1,"strict":false,"version":2}}"# + "\n", 1),
            (#"{"record":{"seed":1,"strict":false,"version":1}}"# + "\n[]\n", 2),
            (
                #"{"record":{"seed":1,"strict":false,"version":1}}"# + "\n"
                    + #"{"n":1,"arrives":{"time":1,"method":"GET","target":"/nowhere"}}"# + "\n", 2
            ),
        ])
    func invalid(text: String, line: Int) async throws {
        let error = await #expect(throws: ServerError.self) {
            try await Emulator.replay(Data(text.utf8))
        }
        #expect(error?.message.hasPrefix("line \(line): ") == true, "\(error?.message ?? "")")
    }
}
