package import CoreData
internal import Foundation
package import WebTransport

/// A transport that answers from files, for tests over answers that were recorded.
package struct RecordedAnswers: Transport {
    private let answer: @Sendable (String) throws -> WebResponse?

    /// The folder of recorded answers that the environment variable `COREDATA_MATERIAL` names; nil where it is not set.
    package static var folder: URL? {
        ProcessInfo.processInfo.environment["COREDATA_MATERIAL"].map { URL(fileURLWithPath: $0).appendingPathComponent("api") }
    }

    /// Creates a transport.
    ///
    /// - Parameter answer: Returns the answer to a request by its address; nil where none was recorded.
    package init(_ answer: @escaping @Sendable (String) throws -> WebResponse?) { self.answer = answer }

    package func send(_ request: WebRequest, limits: TransportLimits) async throws -> WebResponse {
        guard let response = try answer(request.url) else {
            throw TransportError(.notRecorded, request: "\(request.method.rawValue) \(request.url)")
        }
        return response
    }
}

extension NSManagedObject {
    /// Returns the attributes whose values are not those of JSON, as Foundation has read it, each with both values.
    ///
    /// - Parameters:
    ///   - json: The resource.
    ///   - paths: The keys, joined by dots, of attributes that are not named as in JSON.
    ///   - ignored: Attributes that the answer does not have.
    package func differences(from json: [String: Any], at paths: [String: String] = [:], ignoring ignored: Set<String> = []) -> [String] {
        entity.attributesByName.keys.sorted().filter { !ignored.contains($0) }.compactMap { name in
            let keys = (paths[name] ?? name).split(separator: ".").map(String.init)
            let sent = keys.reduce(json as Any?) { ($0 as? [String: Any])?[$1] }
            let value = value(forKey: name)
            return Self.isSame(value, sent) ? nil : "\(name): \(value ?? "nil") is not \(sent ?? "nil")"
        }
    }

    private static func isSame(_ value: Any?, _ sent: Any?) -> Bool {
        switch (value, sent) {
        case (nil, nil), (nil, is NSNull): true
        case (let date as Date, let text as String): ISO8601DateFormatter().date(from: text) == date
        case (let date as Date, let seconds as NSNumber): Date(timeIntervalSince1970: seconds.doubleValue) == date
        case (let text as String, let sent as String): text == sent
        case (let text as String, let number as NSNumber): text == number.stringValue
        case (let value as NSNumber, let sent as NSNumber): value.isEqual(to: sent)
        case (let values as [Any], let sent as [Any]): values.count == sent.count && zip(values, sent).allSatisfy { isSame($0, $1) }
        default: false
        }
    }
}
