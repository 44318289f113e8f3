import ServerTestSupport
import Foundation
import HTTPTypes
import KVStoreEmulator
import KVStoreServer
import TestSupport
import Testing

/// A lost connection, large stores and downloads.
extension PageTests {
    @Test("the page says that it has lost the emulator, and shows another one on the same port")
    func restart() async throws {
        let browser = try #require(Browser.shared)
        var address = ListenAddress.anyLoopbackPort
        try await open(closes: false) { browser, client in
            address.port = client.port
            try await browser.wait(shows("colour", in: "#events li"))
            try await browser.execute("window.isSame = true")
        }
        try await browser.wait(shows("reconnecting", in: "#connection"))
        try await browser.wait(shows("No answer; is the daemon", in: "#worlds-error"))
        try await EmulatorClient.run(address: address) { client in
            // More events than the page has read from the former one.
            for number in 0..<9 {
                try await client.put("new \(number)", "shape", token: "demo/phone")
            }
            try await browser.wait(shows("live", in: "#connection"))
            try await browser.wait(shows(#""new 8""#, in: "#keys .value"))
            try await browser.wait("$('#worlds-error').hidden")
            try await browser.wait(shows(#""new 0""#, in: "#events li"))
            #expect(try await browser.text("return String(\(shows("colour", in: "#events li")))") == "false")
            #expect(try await browser.text("return String(window.isSame)") == "true")
            try await browser.open("about:blank")
        }
    }

    @Test("of a store with more than 1,000 keys, the first are shown, and the page says so")
    func manyKeys() async throws {
        try await open { browser, client in
            #expect(try await browser.text("return String($('#keys-limit').hidden)") == "true")
            let values = (0..<1_500).map {
                #"{"key":"k\#(String($0 + 10_000))","type":"integer","value":\#($0)}"#
            }
            let document = #"{"stores":[{"store":"s","values":[\#(values.joined(separator: ","))]}],"version":1}"#
            let answer = try await client.administer(.put, "/worlds/demo/export", body: document)
            try #require(answer.status == .ok, "\(answer.text)")
            try await browser.wait(shows("The first 1000 of 1500 keys are shown", in: "#keys-limit"))
            try await browser.wait("document.querySelectorAll('#keys tr').length === 1000")
            try await browser.wait(shows("k10999", in: "#keys th"))
            #expect(try await browser.text("return $('#keys-count').textContent") == "1500")
        }
    }

    @Test("the export is downloaded as a file of the world's name")
    func download() async throws {
        try await open { browser, client in
            try await browser.click("#export")
            let file = browser.downloads + "/demo.json"
            while !FileManager.default.fileExists(atPath: file) {
                try Task.checkCancellation()
                try await browser.wait("document.readyState === 'complete'")
            }
            let exported = try await client.administer(.get, "/worlds/demo/export").text
            #expect(try String(contentsOfFile: file, encoding: .utf8) == exported)
        }
    }
}
