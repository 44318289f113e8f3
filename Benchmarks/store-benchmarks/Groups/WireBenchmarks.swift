import Foundation
import KVStoreCore
import KVStoreWire

/// Encoding and decoding a push, in JSON and in binary.
enum WireBenchmarks {
    static func measure(_ setting: Setting) throws -> Findings {
        var findings = Findings()
        for (push, changeCount, valueByteCount) in [
            ("100 changes of 1 KB", 100, 1_024), ("1 change of 4 KB", 1, 4_096),
        ] {
            let client = LedgerClient(store: 0)
            let request = client.request(
                (0..<changeCount).map { (Values.key($0), Values.bytes(valueByteCount, number: $0)) }
            )
            let json = WireJSON.encode(request)
            let binary = WireBinary.encode(request)
            let sampling = Sampling(group: "a push", runs: setting.runs(5_000))
            findings.measurements += try sampling.measure([
                Subject(name: "encode JSON, \(push)", body: { consume(WireJSON.bytes(of: request)) }),
                Subject(name: "encode binary, \(push)", body: { consume(WireBinary.encode(request)) }),
                Subject(
                    name: "decode JSON, \(push)",
                    body: { consume(try WireJSON.decode(SyncRequest.self, from: json)) }),
                Subject(
                    name: "decode binary, \(push)",
                    body: {
                        consume(
                            try binary.withUnsafeBytes {
                                try WireBinary.decode(SyncRequest.self, from: $0)
                            })
                    }),
            ])
            findings.facts += [
                Fact(group: sampling.group, name: "JSON, \(push)", byteCount: json.count),
                Fact(group: sampling.group, name: "binary, \(push)", byteCount: binary.count),
            ]
        }
        return findings
    }
}
