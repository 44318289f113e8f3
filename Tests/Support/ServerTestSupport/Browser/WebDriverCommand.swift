import Foundation
import HTTPTypes

/// A command of WebDriver (W3C), as both protocols name it: a resource for chromedriver, a name for Marionette.
struct WebDriverCommand: Sendable {
    var name: String
    var method = HTTPRequest.Method.post
    /// Relative to the session.
    var path: String
    var parameters: [String: any Sendable] = [:]

    static func open(_ url: String) -> WebDriverCommand {
        WebDriverCommand(name: "WebDriver:Navigate", path: "/url", parameters: ["url": url])
    }

    static let reload = WebDriverCommand(name: "WebDriver:Refresh", path: "/refresh")

    static func execute(_ script: String) -> WebDriverCommand {
        WebDriverCommand(
            name: "WebDriver:ExecuteScript", path: "/execute/sync", parameters: ["script": script, "args": [String]()])
    }

    /// The last argument of the script is the function that takes the value.
    static func executeAsync(_ script: String) -> WebDriverCommand {
        WebDriverCommand(
            name: "WebDriver:ExecuteAsyncScript", path: "/execute/async",
            parameters: ["script": script, "args": [String]()])
    }

    /// In milliseconds. An element that is looked for may be missing still.
    static let timeouts = ["implicit": 10_000, "script": 30_000, "pageLoad": 60_000]

    static func find(_ selector: String) -> WebDriverCommand {
        WebDriverCommand(
            name: "WebDriver:FindElement", path: "/element", parameters: ["using": "css selector", "value": selector])
    }

    static func click(_ element: String) -> WebDriverCommand {
        WebDriverCommand(name: "WebDriver:ElementClick", path: "/element/\(element)/click", parameters: ["id": element])
    }

    static func clear(_ element: String) -> WebDriverCommand {
        WebDriverCommand(name: "WebDriver:ElementClear", path: "/element/\(element)/clear", parameters: ["id": element])
    }

    static func type(_ text: String, into element: String) -> WebDriverCommand {
        WebDriverCommand(
            name: "WebDriver:ElementSendKeys", path: "/element/\(element)/value",
            parameters: ["id": element, "text": text])
    }

    static func perform(_ actions: [[String: any Sendable]]) -> WebDriverCommand {
        WebDriverCommand(name: "WebDriver:PerformActions", path: "/actions", parameters: ["actions": actions])
    }

    static let screenshot = WebDriverCommand(
        name: "WebDriver:TakeScreenshot", method: .get, path: "/screenshot", parameters: ["full": false])

    static let cookies = WebDriverCommand(name: "WebDriver:GetCookies", method: .get, path: "/cookie")

    static let deleteCookies = WebDriverCommand(name: "WebDriver:DeleteAllCookies", method: .delete, path: "/cookie")

    static let window = WebDriverCommand(name: "WebDriver:GetWindowHandle", method: .get, path: "/window")

    static let windows = WebDriverCommand(name: "WebDriver:GetWindowHandles", method: .get, path: "/window/handles")

    /// - Parameter type: `tab` or `window`.
    static func newWindow(_ type: String) -> WebDriverCommand {
        WebDriverCommand(name: "WebDriver:NewWindow", path: "/window/new", parameters: ["type": type])
    }

    static let closeWindow = WebDriverCommand(name: "WebDriver:CloseWindow", method: .delete, path: "/window")

    static func switchTo(_ window: String) -> WebDriverCommand {
        WebDriverCommand(name: "WebDriver:SwitchToWindow", path: "/window", parameters: ["handle": window])
    }
}

/// An error that a browser reported.
package struct BrowserFailure: Error, CustomStringConvertible {
    package let description: String

    /// Whether the page was left or loaded again while a script of a test waited in it.
    var isUnloaded: Bool { description.lowercased().contains("unloaded") }
}
