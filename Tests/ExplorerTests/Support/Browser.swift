import Foundation

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Chromium without a window, driven over the WebDriver protocol by chromedriver. Both end with the test.
///
/// Source: [WebDriver](https://www.w3.org/TR/webdriver2/).
final class Browser {
    private var driver = Process()
    private var output = Pipe()
    private let profile: Folder
    private var port = 0
    private var session = ""

    private static func find(_ names: [String]) throws -> URL {
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin").split(separator: ":").map(String.init) + ["/usr/bin"]
        for name in names {
            for folder in folders {
                let url = URL(fileURLWithPath: folder).appendingPathComponent(name)
                if FileManager.default.isExecutableFile(atPath: url.path) { return url }
            }
        }
        throw HTTP.Failure(
            description: "These tests need \(names[0]): Scripts/prepare chromium chromium-driver, or the packages of your system for it.")
    }

    /// - Parameters:
    ///   - width: The width of the page.
    ///   - isDark: Whether the reader prefers dark colours.
    init(width: Int = 1280, height: Int = 860, isDark: Bool = false) throws {
        profile = try Folder()
        let chromium = try Self.find(["chromium", "chromium-browser", "google-chrome"])
        try startDriver()
        // In containers there is neither a sandbox nor much shared memory. A browser at the end of a pipe ends with its driver.
        var arguments = [
            "--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--hide-scrollbars",
            "--window-size=\(max(width, 520)),\(height)", "--user-data-dir=\(profile.url.path)", "--no-first-run", "--lang=en",
            "--remote-debugging-pipe",
        ]
        if isDark { arguments.append("--blink-settings=preferredColorScheme=0") }
        let options: [String: Any] = ["binary": chromium.path, "args": arguments]
        let made = try send(
            "POST", "/session",
            ["capabilities": ["alwaysMatch": ["goog:chromeOptions": options, "goog:loggingPrefs": ["browser": "ALL"]]]])
        session = (made as? [String: Any])?["sessionId"] as? String ?? ""
        try command(
            "goog/cdp/execute",
            [
                "cmd": "Emulation.setDeviceMetricsOverride",
                "params": ["width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600],
            ])
        try command("timeouts", ["script": 150_000])
    }

    /// Starts chromedriver at a free port.
    ///
    /// It takes a free port of IPv6 and asks for the same one of IPv4, which another program may have: then it ends, and is started again.
    private func startDriver() throws {
        var printed = ""
        for _ in 1...20 {
            driver = Process()
            output = Pipe()
            printed = ""
            try driver.run(try Self.find(["chromedriver"]), ["--port=0"], output: output)
            while port == 0 {
                let data = output.fileHandleForReading.availableData
                if data.isEmpty { break }
                printed += String(decoding: data, as: UTF8.self)
                guard let line = printed.range(of: "started successfully on port ") else { continue }
                let digits = printed[line.upperBound...].prefix { $0.isNumber }
                // More digits may follow, until the dot at the end.
                if digits.endIndex < printed.endIndex { port = Int(digits) ?? 0 }
            }
            if port != 0 { return }
            driver.waitUntilExit()
            guard printed.contains("port not available") else { break }
        }
        throw HTTP.Failure(description: "chromedriver ended: \(printed)")
    }

    deinit {
        // The browser ends with its session. The driver, started by a thread that takes no signals, takes none itself but the last one.
        if !session.isEmpty { _ = try? send("DELETE", "/session/\(session)", nil) }
        kill(driver.processIdentifier, SIGKILL)
        driver.waitUntilExit()
    }

    private func send(_ method: String, _ path: String, _ body: [String: Any]?) throws -> Any? {
        let data = try body.map { try JSONSerialization.data(withJSONObject: $0) }
        let answer = try HTTP.request(method, path, port: port, headers: ["Content-Type": "application/json"], body: data)
        let value = try answer.json["value"]
        if answer.status != 200 { throw HTTP.Failure(description: "\(path): \((value as? [String: Any])?["message"] ?? answer.text)") }
        return value
    }

    @discardableResult private func command(_ name: String, _ body: [String: Any] = [:]) throws -> Any? {
        try send("POST", "/session/\(session)/\(name)", body)
    }

    // MARK: Pages

    func open(_ address: String) throws { try command("url", ["url": address]) }
    func back() throws { try command("back") }

    /// The address of the page, without host.
    var address: String {
        get throws { try run("return location.pathname + location.search") as? String ?? "" }
    }

    /// Runs a script in the page, with its arguments in `arguments`.
    @discardableResult func run(_ script: String, _ arguments: [Any] = []) throws -> Any? {
        try command("execute/sync", ["script": script, "args": arguments])
    }

    /// Waits until an expression of the page is true.
    ///
    /// - Throws: An error that tells what the page shows, after two minutes.
    func wait(_ expression: String) throws {
        let script = """
            const done = arguments[arguments.length - 1], end = performance.now() + 120000;
            const look = () => {
              let is = false;
              try { is = Boolean(\(expression)); } catch {}
              if (is) return done(true);
              if (performance.now() > end) return done(document.body.innerText.slice(0, 600));
              setTimeout(look, 20);
            };
            look();
            """
        let result = try command("execute/async", ["script": script, "args": []])
        if let text = result as? String { throw HTTP.Failure(description: "The page does not come to \(expression). It shows: \(text)") }
    }

    /// Waits until the page shows a text.
    func wait(for text: String) throws {
        let data = try JSONSerialization.data(withJSONObject: [text])
        try wait("document.body.innerText.toLowerCase().includes(\(String(decoding: data, as: UTF8.self))[0].toLowerCase())")
    }

    /// Calls `body` with the first element that a script finds. A page may draw itself anew between the two; then the element is found again.
    private func act(_ script: String, _ arguments: [String], _ body: (String) throws -> Void) throws {
        let patience = ContinuousClock.now + .seconds(120)
        while true {
            let found = try run(script, arguments) as? [String: String]
            do { return try body(found?.values.first ?? "") } catch let failure as HTTP.Failure {
                let isRedrawn = failure.description.contains("stale element") || found == nil
                if !isRedrawn || ContinuousClock.now > patience { throw failure }
            }
        }
    }

    private static let first = "return document.querySelector(arguments[0])"

    /// Clicks as a person does: where something lies above the element, that is an error.
    func click(_ selector: String) throws { try act(Self.first, [selector]) { try command("element/\($0)/click") } }

    /// Clicks the first element of a selector that begins with a text.
    func click(_ selector: String, text: String) throws {
        let script = "return [...document.querySelectorAll(arguments[0])].find((one) => one.textContent.trim().startsWith(arguments[1]))"
        try act(script, [selector, text]) { try command("element/\($0)/click") }
    }

    /// Types into an element; `\u{E007}` is Enter, `\u{E009}` Control.
    func type(_ text: String, into selector: String) throws {
        try act(Self.first, [selector]) { try command("element/\($0)/value", ["text": text]) }
    }

    func clear(_ selector: String) throws { try act(Self.first, [selector]) { try command("element/\($0)/clear") } }

    func text(_ selector: String) throws -> String {
        try run("return document.querySelector(arguments[0])?.innerText ?? ''", [selector]) as? String ?? ""
    }

    /// The texts of all elements of a selector.
    func texts(_ selector: String) throws -> [String] {
        try run("return [...document.querySelectorAll(arguments[0])].map((one) => one.innerText)", [selector]) as? [String] ?? []
    }

    /// The errors and warnings in the browser's console since the last time.
    func consoleErrors() throws -> [String] {
        let entries = try command("se/log", ["type": "browser"]) as? [[String: Any]] ?? []
        return entries.filter { ["SEVERE", "WARNING"].contains($0["level"] as? String ?? "") }.compactMap { $0["message"] as? String }
    }

    /// Writes a picture of the page to the folder that `EXPLORER_SCREENSHOTS` names; nothing where it is not set.
    func screenshot(_ name: String) throws {
        guard let folder = ProcessInfo.processInfo.environment["EXPLORER_SCREENSHOTS"] else { return }
        let base = try send("GET", "/session/\(session)/screenshot", nil) as? String ?? ""
        try Data(base64Encoded: base)?.write(to: URL(fileURLWithPath: folder).appendingPathComponent("\(name).png"))
    }
}
