import Foundation
import KVStoreCore
import KVStoreWire
import Testing

@Suite("JSON documents")
struct WireJSONTests {
    private func nested(_ depth: Int) -> String {
        #"{"value":"","future":"# + String(repeating: "[", count: depth - 1)
            + String(repeating: "]", count: depth - 1) + "}"
    }

    @Test("nesting is accepted up to the limit and rejected beyond it")
    func depth() throws {
        _ = try Samples.decode(nested(DocumentLimits.jsonDepth), as: ValueDocument.self)
        #expect(throws: WireError.tooDeep(limit: DocumentLimits.jsonDepth)) {
            try Samples.decode(nested(DocumentLimits.jsonDepth + 1), as: ValueDocument.self)
        }
        #expect(throws: WireError.tooDeep(limit: 3)) {
            try WireJSON.decode(ValueDocument.self, from: Data(nested(4).utf8), depthLimit: 3)
        }
        for opening in ["[", #"{"value":"#] {
            #expect(throws: WireError.tooDeep(limit: DocumentLimits.jsonDepth)) {
                try Samples.decode(String(repeating: opening, count: 100_000), as: ValueDocument.self)
            }
        }
    }

    @Test("brackets in strings do not nest, also behind escaped quotes and backslashes")
    func bracketsInStrings() throws {
        let text = String(repeating: #"[{\"[\\"#, count: 40)
        let json = #"{"future":"\#(text)","value":"AA=="}"#
        #expect(try Samples.decode(json) == ValueDocument(value: Data([0])))
        let closed = #"{"future":"\\","deep":"# + String(repeating: "[", count: 40)
        #expect(throws: WireError.tooDeep(limit: DocumentLimits.jsonDepth)) {
            try Samples.decode(closed, as: ValueDocument.self)
        }
    }

    @Test("only UTF-8 is decoded")
    func encodings() {
        let json = #"{"value":"AA=="}"#
        for encoding in [String.Encoding.utf16LittleEndian, .utf16BigEndian, .utf16, .utf32] {
            #expect(throws: WireError.notJSON, "\(encoding)") {
                try WireJSON.decode(ValueDocument.self, from: json.data(using: encoding) ?? Data())
            }
        }
        for bytes in [[0xFF], [0xC0, 0x80], [0xED, 0xA0, 0x80], [0x00]] as [[UInt8]] {
            let data = Data(#"{"keys":[],"store":""#.utf8) + bytes + Data("\"}".utf8)
            #expect(throws: WireError.notJSON, "\(bytes)") {
                try WireJSON.decode(KeyList.self, from: data)
            }
        }
    }

    @Test(
        "what is not a JSON object is malformed",
        arguments: ["", " ", "{", "null", "[]", "1", "\"\"", "{}", "{} {}", "<html>", "\u{FEFF}"])
    func otherDocuments(text: String) {
        #expect(throws: WireError.self) { try Samples.decode(text, as: ValueDocument.self) }
    }

    @Test("unknown fields are ignored, and objects may have the same fields as others")
    func fields() throws {
        let many = (0..<2_000).map { #""f\#($0)":{"f":"\#($0)","g":[{"f":1},{"f":2}]}"# }.joined(separator: ",")
        for json in [
            #"{"later":{"value":"AQ=="},"value":"AA==","null":null,"n":1e9}"#,
            #"{"a":{"a":[{"a":"a"},{"a":"a"}]},"value":"AA=="}"#, #"{\#(many),"value":"AA=="}"#,
            #"{"\u00e9":1,"e\u0301":2,"\":\"":3,"value":"AA=="}"#,
        ] {
            #expect(try Samples.decode(json) == ValueDocument(value: Data([0])), "\(json)")
        }
    }

    @Test(
        "an object that has a field twice is malformed, however it is written and wherever it is",
        arguments: [
            #"{"value":"AA==","value":"AQ=="}"#, #"{"value":"AA==","value":"AA=="}"#,
            #"{"value":"AA==","v\u0061lue":"AQ=="}"#, #"{"value":"AA==","later":{"a":1,"a":1}}"#,
            #"{"later":[[{"b":1,"a":{"b":2},"b":1}]],"value":"AA=="}"#,
        ])
    func repeatedFields(json: String) {
        #expect(throws: WireError.repeatedField) {
            try Samples.decode(json, as: ValueDocument.self)
        }
    }

    @Test("a byte order mark is malformed")
    func byteOrderMark() {
        #expect(throws: WireError.notJSON) {
            try Samples.decode("\u{FEFF}" + #"{"value":"AA=="}"#, as: ValueDocument.self)
        }
    }

    @Test("errors name the place and never quote the document")
    func errors() throws {
        for json in [
            #"{"keys":[{"hunter2":1}],"store":"s"}"#, #"{"keys":["hunter2"],"store":"s"}"#,
            #"{"keys":[{"key":"k","seq":"hunter2","byteCount":1}],"store":"s"}"#,
            #"{"keys":[{"key":"k","seq":1,"stamp":"hunter2","byteCount":1}],"store":"s"}"#,
            #"{"keys":hunter2"#, "hunter2", #"{"store":1,"hunter2":[]}"#,
        ] {
            let error = #expect(throws: WireError.self) {
                try Samples.decode(json, as: KeyList.self)
            }
            #expect(try !#require(error).description.contains("hunter2"), "\(json)")
        }
        let reason = "keys[1].stamp is invalid: expected \(StoreStamp.textForm)"
        #expect(throws: WireError.malformed(reason)) {
            try Samples.decode(
                #"{"keys":[{"key":"k","seq":1,"byteCount":1,"# + #""stamp":"019b76daa87b-00000007-8f3ac0de51b20417"},"#
                    + #"{"key":"k","seq":1,"stamp":"","byteCount":1}],"store":"s"}"#, as: KeyList.self)
        }
    }

    @Test("accounts, devices and stores have the documented fields")
    func accounts() throws {
        try Samples.expect(
            DaemonIdentity(
                account: "default", device: "laptop", deviceID: "a1", scopes: ["read"], stores: nil,
                epoch: "e1", serverTime: 5),
            is: #"{"account":"default","device":"laptop","deviceID":"a1","epoch":"e1","#
                + #""scopes":["read"],"serverTime":5}"#)
        var device = DaemonDevice(
            deviceID: "a1", device: "laptop", scopes: [], created: 1, lastSeen: nil, connected: false)
        try Samples.expect(
            DeviceList(devices: [device], serverTime: 1),
            is: #"{"devices":[{"connected":false,"created":1,"device":"laptop","deviceID":"a1","#
                + #""scopes":[]}],"serverTime":1}"#)
        device.lastSeen = 2
        #expect(Samples.json(device).contains(#""lastSeen":2"#))
        try Samples.expect(
            StoreList(stores: [
                .init(name: "notes", end: SyncCursor(epoch: Samples.epoch, sequence: 5), keyCount: 2, byteCount: 90)
            ]),
            is: #"{"stores":[{"byteCount":90,"cursor":5,"epoch":"00000000000000e1","keyCount":2,"#
                + #""store":"notes"}]}"#)
    }

    @Test("a key listing carries sizes instead of values, in the given order")
    func keyList() throws {
        let entries = [
            SequencedRecord(record: Samples.value("e\u{301}"), sequence: 1),
            SequencedRecord(record: Samples.value("\u{e9}", []), sequence: 2),
        ]
        let list = KeyList(store: "s", entries: entries)
        let decoded = try WireJSON.decode(KeyList.self, from: WireJSON.encode(list))
        #expect(decoded == list)
        #expect(decoded.keys.map(\.byteCount) == [3, 0])
        #expect(decoded.keys.map { Array($0.key.text.utf8) } == [[0x65, 0xCC, 0x81], [0xC3, 0xA9]])
    }
}

@Suite("Problem documents")
struct ProblemTests {
    @Test("a problem arrives as it was sent")
    func roundTrip() {
        let problem = Problem(
            507, "disk-full", "Disk full", detail: "no space left", limit: 5, hint: "free space", retryAfterSeconds: 60)
        #expect(
            String(decoding: problem.json, as: UTF8.self)
                == #"{"code":"disk-full","detail":"no space left","hint":"free space","limit":5,"#
                + #""status":507,"title":"Disk full","type":"about:blank"}"#)
        #expect(Problem(status: 507, body: problem.json, retryAfter: "60") == problem)
    }

    @Test(
        "an error answer without a problem document has a code of its status",
        arguments: ["", "<html>\u{1B}[2J", "[]", "{}", #"{"code":1}"#, #"{"code":""}"#])
    func otherBodies(body: String) {
        let problem = Problem(status: 404, body: Data(body.utf8))
        #expect(problem == Problem(404, "http-404", "", detail: ""))
    }

    @Test("texts of the other side are bounded and printable")
    func hostileTexts() {
        let text = "a\\n\\u001b[2J\\u202e\\u2028" + String(repeating: "x\\u0301", count: 9_000)
        let body = #"{"code":"\#(text)","title":"\#(text)","detail":"\#(text)","hint":"\#(text)"}"#
        let problem = Problem(status: 400, body: Data(body.utf8))
        #expect(problem.code.unicodeScalars.count == DocumentLimits.problemCodeScalarCount + 1)
        for text in [problem.code, problem.title, problem.detail, problem.hint ?? ""] {
            #expect(text.hasPrefix("a  [2J  x\u{301}") && text.hasSuffix("…"))
            #expect(text.unicodeScalars.count <= DocumentLimits.problemTextScalarCount + 1)
        }
    }

    @Test(
        "Retry-After counts as whole seconds, up to a day",
        arguments: [
            ("7", 7), ("0", 0), ("86401", 86_400), ("-5", nil), ("+5", nil), ("1e3", nil),
            ("1.5", nil), ("", nil), ("99999999999999999999", nil),
            ("Fri, 31 Dec 1999 23:59:59 GMT", nil),
        ])
    func retryAfter(text: String, seconds: Int?) {
        #expect(Problem(status: 503, body: Data(), retryAfter: text).retryAfterSeconds == seconds)
    }
}
