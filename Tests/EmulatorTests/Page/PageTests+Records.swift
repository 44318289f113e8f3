import ServerTestSupport
import Foundation
import KVStore
import KVStoreTesting
import TestSupport
import Testing

/// Records of simulated clouds.
extension PageTests {
    @Test("the record of a simulated cloud shows keys, notifications and decisions as of any event")
    func cloudRecord() async throws {
        try await open { browser, _ in
            let path = browser.home.path + "/cloud.jsonl"
            let cloud = SimulatedCloud(seed: 7, record: path)
            let phone = try cloud.device("phone")
            let mac = try cloud.device("mac", .with { $0.clockError = .seconds(-3) })
            phone.store.set("dark", forKey: "theme")
            try await cloud.settle()
            mac.store.set("light", forKey: "theme")
            try await cloud.settle()
            try mac.restart(after: .kill)
            // A later version may have more kinds.
            let file = try FileHandle(forUpdating: URL(filePath: path))
            try file.seekToEnd()
            try file.write(
                contentsOf: Data(
                    #"{"event":{"device":"mac","event":"later","id":999,"time":1789732900000,"world":"cloud"}}"#
                        .utf8) + Data("\n".utf8))
            try file.close()

            try await browser.choose(path, in: "#record-file")
            try await browser.wait(shows("cloud.jsonl, read only, seed 7, SimulatedCloud", in: "#mode"))
            try await browser.wait("$('#account').value === 'account'")
            try await browser.wait(shows(#""light""#, in: "#keys .value"))
            try await browser.wait(
                "[...document.querySelectorAll('#devices h3')].map(e => e.textContent).join() === 'mac,phone'")
            try await browser.wait(shows("later", in: "#events .kind"))
            for sentence in [
                #"default: set theme = "dark" locally"#, "process ended by a kill",
                "process started with account account, its clock 3 s behind",
                "default: reason 0 (server change) for theme", "nothing is under way",
            ] { try await browser.wait(shows(sentence, in: "#events .what")) }

            // The newest events come first, so this is the mac's of "dark".
            try await browser.execute(
                """
                [...document.querySelectorAll('#events li')]
                    .findLast(e => e.querySelector('.kind').textContent === 'notification').click()
                """)
            try await browser.wait(shows("notification by mac", in: "#position-text"))
            try await browser.wait(shows(#""dark""#, in: "#keys .value"))
            try await browser.execute("$('#keys button.key').click()")
            try await browser.wait(shows(#"theme in the cloud: "dark" of phone was accepted"#, in: "#why-decisions"))
            #expect(
                try await browser.text("return String($('#why-decisions').textContent.includes('light'))") == "false")
            try await browser.execute("$('#scrubber').focus()")
            try await browser.press(.end)
            try await browser.wait(shows(#"theme in the cloud: "light" of mac replaced"#, in: "#why-decisions"))
            let complaints = try await browser.complaints()
            #expect(complaints.isEmpty, "\(complaints)")
        }
    }

    @Test("a record that is dropped on the page opens")
    func droppedRecord() async throws {
        try await open { browser, _ in
            try await browser.execute(
                """
                const data = new DataTransfer();
                data.items.add(new File(['{"record":{"seed":9,"strict":false,"version":1}}\\n'], 'd.jsonl'));
                document.body.dispatchEvent(new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true }));
                """)
            try await browser.wait(shows("d.jsonl, read only, seed 9", in: "#mode"))
        }
    }
}
