internal import Foundation

/// A password, a key or a token, or its location.
///
/// It is never printed: its description has only the location. Its encoded form is the name of an environment variable or of a file: `{"environment":
/// "SERVICE_TOKEN"}`, `{"file": "/run/secrets/token"}`. The description of a service therefore never contains a secret.
public struct Credential: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    enum Source: Sendable {
        case value(String)
        case environment(String)
        case file(String)
        case closure(@Sendable () async throws -> String)
    }

    let source: Source

    /// Returns a credential with the secret itself. It cannot be encoded.
    public static func value(_ secret: String) -> Credential { Credential(source: .value(secret)) }
    /// Returns a credential whose secret is the value of an environment variable.
    public static func environment(_ name: String) -> Credential { Credential(source: .environment(name)) }
    /// Returns a credential whose secret is the content of a file, without surrounding white space.
    public static func file(_ path: String) -> Credential { Credential(source: .file(path)) }
    /// Returns a credential whose secret is the result of a closure, which runs once, and again if the service no longer accepts the secret. It cannot
    /// be encoded.
    public static func closure(_ secret: @escaping @Sendable () async throws -> String) -> Credential {
        Credential(source: .closure(secret))
    }

    /// The location of the secret, without the secret.
    public var description: String {
        switch source {
        case .value: "a secret in the program"
        case .environment(let name): "the environment variable \(name)"
        case .file(let path): "the file \(path)"
        case .closure: "a secret that a closure returns"
        }
    }

    /// The location of the secret, without the secret.
    public var debugDescription: String { description }

    /// The location of the secret, without the secret.
    public var customMirror: Mirror { Mirror(self, children: ["source": description]) }

    /// Returns whether the error of a closure, which may have sent a request, means that the network was not available.
    private static func isTemporary(_ error: any Error) -> Bool {
        if let error = error as? TransportError { return error.isOfNetwork || error.isTemporary }
        let known = error as NSError
        return known.domain == NSPOSIXErrorDomain
            || known.domain == NSURLErrorDomain
                && ![NSURLErrorUserAuthenticationRequired, NSURLErrorUserCancelledAuthentication].contains(known.code)
    }

    /// Reads the secret.
    ///
    /// - Throws: ``TransportError`` of the kind ``TransportError/Kind/unauthorized`` if there is no secret, or if it has control characters.
    func read(for request: WebRequest) async throws -> String {
        func failure(_ detail: String) -> TransportError { TransportError(.unauthorized, request: request.summary, detail: detail) }
        let secret: String
        switch source {
        case .value(let value): secret = value
        case .environment(let name):
            guard let value = ProcessInfo.processInfo.environment[name] else {
                throw failure("There is no environment variable \(name): set it to the secret.")
            }
            secret = value
        case .file(let path):
            guard let data = FileManager.default.contents(atPath: path), let text = String(data: data, encoding: .utf8) else {
                throw failure("The file \(path) cannot be read.")
            }
            secret = text.trimmingCharacters(in: .whitespacesAndNewlines)
        case .closure(let closure):
            do {
                secret = try await closure()
            } catch let error as CancellationError {
                throw error
            } catch {
                var problem = failure("The closure that returns the secret threw \(type(of: error)).")
                problem.isTemporary = Self.isTemporary(error)
                throw problem
            }
        }
        guard !secret.isEmpty else { throw failure("It is empty: \(description).") }
        guard secret.unicodeScalars.allSatisfy({ $0.value >= 0x20 && $0.value != 0x7F }) else {
            throw failure("It has control characters: \(description).")
        }
        return secret
    }
}

extension Credential: Codable {
    private enum CodingKeys: String, CodingKey {
        case environment
        case file
    }

    /// Decodes the name of an environment variable or of a file.
    public init(from decoder: any Decoder) throws {
        guard let container = try? decoder.container(keyedBy: CodingKeys.self), container.allKeys.count == 1 else {
            throw DecodingError.dataCorrupted(
                .init(
                    codingPath: decoder.codingPath,
                    debugDescription: "A secret is named by {\"environment\": …} or {\"file\": …}; it never stands in a description itself."
                ))
        }
        if let name = try container.decodeIfPresent(String.self, forKey: .environment) {
            source = .environment(name)
        } else {
            source = .file(try container.decode(String.self, forKey: .file))
        }
    }

    /// Encodes the name of the environment variable or of the file. A literal secret cannot be encoded.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        switch source {
        case .environment(let name): try container.encode(name, forKey: .environment)
        case .file(let path): try container.encode(path, forKey: .file)
        case .value, .closure:
            throw EncodingError.invalidValue(
                self,
                .init(
                    codingPath: encoder.codingPath,
                    debugDescription: "A secret cannot be encoded: name the environment variable or the file that has it."))
        }
    }
}
