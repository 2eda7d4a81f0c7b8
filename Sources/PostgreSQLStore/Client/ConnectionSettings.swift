#if PostgreSQL
internal import CPostgreSQL
internal import Dispatch
internal import Foundation
@_spi(Stores) internal import ObjectGraph

/// The parameters of connections, from a URL. They contain the password, and are never shown.
struct ConnectionSettings: Sendable {
    /// The parameters by libpq's names.
    private let parameters: [String: String]
    /// Returns a password for each connection; nil to use that of the parameters.
    private let password: (@Sendable () async throws -> String)?
    /// The URL without its password and parameters, for messages.
    let place: String
    /// The session settings that statements rely on, by the names of the server's settings.
    private let session: [(name: String, value: String)]
    /// The settings of each host, if the URL names several hosts among which the primary is to be found; otherwise empty.
    let hosts: [ConnectionSettings]

    /// - Parameters:
    ///   - url: A URL such as `postgresql://user@host/database?sslmode=verify-full`.
    ///   - schema: The schema of unqualified names.
    ///   - furtherSchema: A schema that is searched for names that the first one lacks.
    /// - Throws: Code 134080 for a URL that libpq does not understand, without its text: it may contain a password.
    init(
        _ url: URL, schema: String, furtherSchema: String? = nil, statementTimeout: Double?,
        password: (@Sendable () async throws -> String)?
    ) throws {
        let place = Self.redacted(url).absoluteString
        self.password = password
        if schema.utf8.contains(0) {
            // For libpq the name would end there, and be that of another schema.
            throw CoreDataError.make(
                NSPersistentStoreOpenError, "The store at \(place) cannot be opened.", reason: "The name of the schema contains U+0000.",
                next: "Name a schema that the database can have.")
        }
        guard Self.isOfDatabase(url) else { throw Self.unknownURL(place) }
        var parameters = try Self.parse(url.absoluteString, place)
        if parameters["sslmode"] == nil, !Self.isLocal(parameters) {
            parameters["sslmode"] = "verify-full"
            if parameters["sslrootcert"] == nil, let file = Self.systemCertificates { parameters["sslrootcert"] = file }
        }
        if parameters["application_name"] == nil { parameters["fallback_application_name"] = "OpenCoreData" }
        if parameters["connect_timeout"] == nil { parameters["connect_timeout"] = "15" }
        parameters["client_encoding"] = "UTF8"
        let schemas = [schema, furtherSchema].compactMap { $0 }
        let path = schemas.map { "\"" + $0.replacing("\"", with: "\"\"") + "\"" }.joined(separator: ",")
        var session: [(name: String, value: String)] = [("search_path", path), ("extra_float_digits", "1")]
        if let statementTimeout { session.append(("statement_timeout", String(Int(statementTimeout * 1000)))) }
        self.session = session
        let hosts = Self.hosts(parameters)
        if !hosts.isEmpty {
            // Detects a vanished server, which does not close the connection itself.
            let limits = ["keepalives_idle": "10", "keepalives_interval": "5", "keepalives_count": "3", "tcp_user_timeout": "20000"]
            parameters.merge(limits) { given, _ in given }
        }
        self.parameters = parameters
        let all = parameters
        self.hosts = hosts.map { host in
            let name = host["host"] ?? host["hostaddr"] ?? ""
            return ConnectionSettings(
                parameters: all.merging(host) { $1 }, password: password, place: "\(name):\(host["port"] ?? "")", session: session)
        }
        self.place = hosts.isEmpty ? place : "\(place) (\(self.hosts.map(\.place).joined(separator: ", ")))"
    }

    private init(
        parameters: [String: String], password: (@Sendable () async throws -> String)?, place: String,
        session: [(name: String, value: String)]
    ) {
        (self.parameters, self.password, self.place, self.session) = (parameters, password, place, session)
        hosts = []
    }

    // MARK: Hosts

    /// Returns the parameters of each of several hosts. The list is empty if libpq is to choose: for one host, for lists of different lengths, and if
    /// the URL asks for a server other than the primary.
    private static func hosts(_ parameters: [String: String]) -> [[String: String]] {
        guard [nil, "primary", "read-write"].contains(parameters["target_session_attrs"]) else { return [] }
        let lists = ["host", "hostaddr", "port"].compactMap { name in
            parameters[name].map { (name, $0.split(separator: ",", omittingEmptySubsequences: false).map(String.init)) }
        }
        let count = lists.map(\.1.count).max() ?? 0
        guard count > 1, lists.contains(where: { $0.0 != "port" && $0.1.count == count }),
            lists.allSatisfy({ $0.1.count == count || $0.0 == "port" && $0.1.count == 1 })
        else { return [] }
        return (0..<count).map { index in
            // libpq accepts any server here: the search for the primary examines each one.
            lists.reduce(into: ["target_session_attrs": "any"]) { $0[$1.0] = $1.1.count == 1 ? $1.1[0] : $1.1[index] }
        }
    }

    /// Returns the URL for libpq's keywords and values, `host=db.example.com dbname=shop`; nil for other text.
    private static func url(ofKeywords text: String) -> URL? {
        guard !text.contains("://"), text.contains("="), var given = try? parse(text, "") else { return nil }
        var parts = URLComponents()
        parts.scheme = "postgresql"
        parts.host = ""
        parts.user = given.removeValue(forKey: "user")
        parts.password = given.removeValue(forKey: "password")
        if let host = given["host"], host.wholeMatch(of: /[\w.-]+/) != nil {
            parts.host = host
            given["host"] = nil
            if let port = given["port"].flatMap({ Int($0) }) {
                parts.port = port
                given["port"] = nil
            }
        }
        parts.path = "/" + (given.removeValue(forKey: "dbname") ?? "")
        if !given.isEmpty { parts.queryItems = given.sorted { $0.key < $1.key }.map { URLQueryItem(name: $0.key, value: $0.value) } }
        return parts.url
    }

    /// Converts a URL as libpq accepts it, with several hosts before the database's name, into one that has them as parameters.
    static func url(_ text: String) -> URL? {
        // For libpq it is a character as any other, of a password or a name; for `URL` the text would end there.
        let text = text.contains("://") ? text.replacing("#", with: "%23") : text
        guard let parts = text.wholeMatch(of: /(postgres(?:ql)?:\/\/(?:[^@\/?]*@)?)([^@\/?]*,[^@\/?]*)(\/[^?]*)?(?:\?(.*))?/) else {
            // Any other text would be taken for a path, and its spaces for parts of a value.
            return url(ofKeywords: text) ?? URL(string: text).flatMap { isOfDatabase($0) ? $0 : nil }
        }
        var (names, ports): ([Substring], [Substring]) = ([], [])
        for host in parts.2.split(separator: ",", omittingEmptySubsequences: false) {
            // An IPv6 address has colons, and brackets.
            guard let one = host.wholeMatch(of: /(?:\[([^\]]*)\]|([^:]*))(?::([0-9]*))?/) else { return nil }
            names.append(one.1 ?? one.2 ?? "")
            ports.append(one.3 ?? "")
        }
        let query = [parts.4.map(String.init), "host=\(names.joined(separator: ","))", "port=\(ports.joined(separator: ","))"]
        return URL(string: "\(parts.1)\(parts.3 ?? "/")?\(query.compactMap { $0 }.joined(separator: "&"))")
    }

    // In the options of a connection a backslash escapes spaces, and itself.
    private static func escaped(_ text: String) -> String { text.replacing("\\", with: "\\\\").replacing(" ", with: "\\ ") }

    /// Returns a URL without secrets: without password and parameters. A URL that is not one of a database is not shown at all.
    static func redacted(_ url: URL) -> URL {
        var shown = URLComponents()
        shown.scheme = "postgresql"
        shown.host = ""
        shown.path = "/"
        if isOfDatabase(url), let parts = URLComponents(url: url, resolvingAgainstBaseURL: false), let host = parts.host,
            parts.path.wholeMatch(of: /(?:\/[^\/=@]*)?/) != nil, parts.fragment == nil, parts.percentEncodedQuery?.contains("@") != true
        {
            // If a character of the password ends the apparent host early, the rest of the URL contains the `@` before the real host.
            (shown.scheme, shown.user, shown.host, shown.port, shown.path) = (parts.scheme, parts.user, host, parts.port, parts.path)
        }
        return shown.url ?? unknownPlace
    }

    private static func isOfDatabase(_ url: URL) -> Bool { ["postgres", "postgresql"].contains(url.scheme) }

    private static let unknownPlace = URL(fileURLWithPath: "/PostgreSQL")

    private static func unknownURL(_ place: String) -> NSError {
        CoreDataError.make(
            NSPersistentStoreOpenError, "The store at \(place) cannot be opened.", reason: "Its URL is not one that libpq understands.",
            next: "Write it as postgresql://user@host:port/database?parameter=value, with special characters as %XX.")
    }

    private static func parse(_ text: String, _ place: String) throws -> [String: String] {
        guard let options = PQconninfoParse(text, nil) else {
            // libpq's message may contain a part of the password.
            throw unknownURL(place)
        }
        defer { PQconninfoFree(options) }
        var parameters: [String: String] = [:]
        var next = options
        while let keyword = next.pointee.keyword {
            if let value = next.pointee.val { parameters[String(cString: keyword)] = String(cString: value) }
            next += 1
        }
        return parameters
    }

    /// Whether all hosts are this machine: sockets in the file system, and addresses of the loopback.
    private static func isLocal(_ parameters: [String: String]) -> Bool {
        let environment = ProcessInfo.processInfo.environment
        // A service may name any host.
        if parameters["host"] == nil, parameters["hostaddr"] == nil, parameters["service"] ?? environment["PGSERVICE"] != nil {
            return false
        }
        let hosts = parameters["hostaddr"] ?? parameters["host"] ?? environment["PGHOSTADDR"] ?? environment["PGHOST"] ?? ""
        return hosts.split(separator: ",", omittingEmptySubsequences: false).allSatisfy { host in
            host.isEmpty || host.hasPrefix("/") || host.hasPrefix("@") || host == "localhost" || host == "::1"
                || host.wholeMatch(of: /127\.[0-9]+\.[0-9]+\.[0-9]+/) != nil
        }
    }

    /// The file of the system's trusted certificates; nil if the user has a file of their own, or the system has none.
    private static var systemCertificates: String? {
        let files = FileManager.default
        let own = files.homeDirectoryForCurrentUser.appendingPathComponent(".postgresql/root.crt").path
        if files.fileExists(atPath: own) || ProcessInfo.processInfo.environment["PGSSLROOTCERT"] != nil { return nil }
        return ["/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt"].first { files.fileExists(atPath: $0) }
    }

    /// Whether a server whose sessions are read-only by default does not count as the primary, as for libpq's `read-write`, unlike its `primary`.
    var countsReadOnlyDefault: Bool { parameters["target_session_attrs"] != "primary" }

    /// The mode of transport security that the URL or the default requests; for tests.
    var securityMode: String? { parameters["sslmode"] }

    /// Returns the statement that begins each transaction of a connection whose session is not the store's own.
    ///
    /// - Parameter settings: Further settings that the statement makes.
    func prelude(_ settings: DatabaseSettings) -> Call { DatabaseSettings.statement(session + settings.sorted) }

    /// Returns the keywords and values for one connection.
    ///
    /// - Parameter ownsSession: Whether the connection itself has the settings that statements rely on.
    func resolved(ownsSession: Bool) async throws -> [(keyword: String, value: String)] {
        var all = parameters
        if ownsSession {
            all["options"] = ([parameters["options"]] + session.map { "-c \($0.name)=" + Self.escaped($0.value) }).compactMap { $0 }
                .joined(separator: " ")
        }
        if let password { all["password"] = try await password() }
        return all.map { ($0.key, $0.value) }
    }
}

extension ConnectionSettings {
    /// The answer of a server to a connection attempt.
    enum Presence: Sendable {
        /// The server accepts connections, or refuses them for a reason of its own.
        case there
        /// It is starting or shutting down.
        case busy
        /// No server answers.
        case away
    }

    /// Asks the server whether it takes connections, without a user's rights. The messages of servers are in many languages.
    func presence() async -> Presence {
        let parameters = parameters.map { (keyword: $0.key, value: $0.value) }
        return await withCheckedContinuation { continuation in
            DispatchQueue(label: "PostgreSQLStore.calls").async {
                let answer = parameters.withPointers { PQpingParams($0, $1, 0) }
                continuation.resume(
                    returning: answer == PQPING_OK ? .there : answer == PQPING_REJECT ? .busy : .away)
            }
        }
    }
}

extension [(keyword: String, value: String)] {
    /// Calls `body` with the keywords and the values, each list ending with NULL.
    func withPointers<Result>(
        _ body: (UnsafePointer<UnsafePointer<CChar>?>, UnsafePointer<UnsafePointer<CChar>?>) -> Result
    ) -> Result {
        let keywords = map { strdup($0.keyword) } + [nil]
        let values = map { strdup($0.value) } + [nil]
        defer {
            for text in keywords + values { free(text) }
        }
        return keywords.map { UnsafePointer($0) }.withUnsafeBufferPointer { keywords in
            values.map { UnsafePointer($0) }.withUnsafeBufferPointer { values in body(keywords.baseAddress!, values.baseAddress!) }
        }
    }
}

extension ConnectionSettings: CustomStringConvertible, CustomReflectable {
    /// The place, without anything secret.
    var description: String { place }
    var customMirror: Mirror { Mirror(self, children: ["place": place]) }
}
#endif
