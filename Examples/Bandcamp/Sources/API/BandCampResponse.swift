internal import ExampleSupport
internal import Foundation

/// What the service's answers have in common, whoever has asked.
enum BandCampResponse {
    /// Returns the JSON object of a response.
    ///
    /// - Throws: An error of ``BandCampErrorDomain`` that names the URL.
    static func object(_ body: Data, status: Int, of url: URL) throws -> [String: Any] {
        let json = Result { try JSONSerialization.jsonObject(with: body) }
        let object = (try? json.get()) as? [String: Any]
        let message = object?["error_message"] as? String
        guard 200..<300 ~= status else {
            throw NSError.failure(
                BandCampErrorCode.status, asking: url, "The service answered with HTTP status \(status)\(message.map { ": \($0)" } ?? "").")
        }
        guard let object else {
            var cause: (any Error)?
            if case .failure(let error) = json { cause = error }
            throw NSError.failure(BandCampErrorCode.malformedAnswer, asking: url, "The answer is not a JSON object.", cause: cause)
        }
        // Bandcamp reports unknown identifiers with status 200 and an error in the body.
        guard let failed = object["error"] as? Bool, failed else { return object }
        let code: BandCampErrorCode = message?.hasPrefix("unknown") ?? false ? .unknownIdentifier : .refused
        throw NSError.failure(code, asking: url, "The service answered: \(message ?? "an error without a message").")
    }

    /// Returns the members of a list of an answer.
    ///
    /// - Throws: An error of ``BandCampErrorDomain`` where there is no such list.
    static func list(_ key: String, of answer: [String: Any], at url: URL) throws -> [[String: Any]] {
        guard let list = answer[key] as? [[String: Any]] else {
            throw NSError.failure(BandCampErrorCode.malformedAnswer, asking: url, "The answer has no list “\(key)”.")
        }
        return list
    }
}

extension URL {
    /// Returns the address of a call of the API below this one, with its only parameter.
    func call(_ path: String, _ parameter: String, _ value: String) -> URL {
        // All special characters of queries are encoded: a band may be called “AC&DC+1”.
        let allowed = CharacterSet.alphanumerics.union(CharacterSet(charactersIn: "-._~,"))
        let encoded = value.addingPercentEncoding(withAllowedCharacters: allowed.intersection(Self.ascii)) ?? value
        let base = absoluteString.hasSuffix("/") ? String(absoluteString.dropLast()) : absoluteString
        return URL(string: "\(base)\(path)?\(parameter)=\(encoded)") ?? self
    }

    private static let ascii = CharacterSet(charactersIn: Unicode.Scalar(0)...Unicode.Scalar(127))
}
