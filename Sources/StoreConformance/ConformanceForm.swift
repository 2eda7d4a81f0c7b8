internal import CoreData

/// An object of ``ConformanceModel`` with a validation rule of every kind, in its model and in its class.
final class ConformanceForm: NSManagedObject {
    static let errorDomain = "StoreConformance.Form"
    /// The error code of an address without an “@”.
    static let addressCode = 1
    /// The error code of a form that ends before it starts.
    static let orderCode = 2

    override func validateValue(_ value: inout Any?, forKey key: String) throws {
        if key == "address", let address = value as? String {
            guard address.contains("@") else {
                throw NSError(
                    domain: Self.errorDomain, code: Self.addressCode,
                    userInfo: [NSValidationObjectErrorKey: self, NSValidationKeyErrorKey: key])
            }
            value = address.lowercased()
        }
        try super.validateValue(&value, forKey: key)
    }

    override func validateForInsert() throws { try collect([{ try super.validateForInsert() }, checkOrder]) }

    override func validateForUpdate() throws { try collect([{ try super.validateForUpdate() }, checkOrder]) }

    private func checkOrder() throws {
        guard let start = value(forKey: "start") as? Int, let end = value(forKey: "end") as? Int, end < start else { return }
        throw NSError(domain: Self.errorDomain, code: Self.orderCode, userInfo: [NSValidationObjectErrorKey: self])
    }

    /// Performs every check and combines their errors, as classes with custom validation do.
    private func collect(_ checks: [() throws -> Void]) throws {
        var errors: [NSError] = []
        for check in checks {
            do {
                try check()
            } catch {
                let error = error as NSError
                errors += error.userInfo[NSDetailedErrorsKey] as? [NSError] ?? [error]
            }
        }
        if errors.count == 1 { throw errors[0] }
        if !errors.isEmpty {
            throw NSError(
                domain: NSCocoaErrorDomain, code: NSValidationMultipleErrorsError, userInfo: [NSDetailedErrorsKey: errors])
        }
    }

    /// Adds the properties of the forms' entity.
    static func describe(_ form: NSEntityDescription, tag: NSEntityDescription) {
        func attribute(
            _ name: String, _ type: NSAttributeDescription.AttributeType, _ rules: [String], isOptional: Bool = true
        ) -> NSAttributeDescription {
            let attribute = NSAttributeDescription(name: name, type: type, isOptional: isOptional)
            attribute.setValidationPredicates(rules.map { NSPredicate(format: $0) }, withValidationWarnings: nil)
            return attribute
        }
        let labels = NSRelationshipDescription(name: "labels", destination: tag, toMany: true, isOptional: false)
        labels.minCount = 2
        labels.maxCount = 3
        let labelled = NSRelationshipDescription(name: "labelled", destination: form, toMany: true)
        labels.inverse(to: labelled)
        tag.properties.append(labelled)
        form.managedObjectClass = ConformanceForm.self
        form.properties = [
            attribute("title", .string, ["length >= 3", "length <= 8"], isOptional: false),
            attribute("code", .string, ["SELF MATCHES '[A-Z]{3}'"]),
            attribute("amount", .integer32, ["SELF >= 1", "SELF <= 10"]),
            attribute("price", .double, ["SELF > 0", "SELF < 1000"]),
            attribute("day", .date, ["SELF >= CAST(0, 'NSDate')", "SELF <= CAST(86400, 'NSDate')"]),
            attribute("address", .string, []), attribute("start", .integer32, []), attribute("end", .integer32, []), labels,
        ]
    }
}
