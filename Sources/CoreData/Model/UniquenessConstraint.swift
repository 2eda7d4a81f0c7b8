internal import Foundation

extension NSEntityDescription {
    /// The names in ``uniquenessConstraints``, which may hold names or attribute descriptions.
    static func names(in constraint: [Any]) -> [String?] {
        constraint.map { element in
            switch element {
            case let name as String: name
            case let property as NSPropertyDescription: property.name
            default: nil
            }
        }
    }
}
