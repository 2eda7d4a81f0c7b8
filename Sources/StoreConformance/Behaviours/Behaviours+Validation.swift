internal import CoreData

extension Behaviour {
    /// The behaviours of validation: the rejected values and their errors.
    static let validation: [Behaviour] = [
        Behaviour(.contexts, "An object that obeys every rule is saved, with what its class makes of a value", requires: .anyModel) {
            run in
            try run.inContext { context in
                form(run, context, ["address": "A@Example.org"])
                try context.save()
            }
            try run.elsewhere { context in
                try expectEqual(try run.all("Form", context).map { $0.value(forKey: "address") as? String }, ["a@example.org"])
            }
        },
        Behaviour(.contexts, "A violated rule is an error with its code, the object, the key and the value", requires: .anyModel) { run in
            for (key, value, code) in violations {
                try run.inContext { context in
                    let object = form(run, context, [key: value])
                    let error = try expectError("saving \(key) = \(value)") { try context.save() }
                    try expectEqual(error.code, code, "\(key) = \(value):")
                    try expectEqual(error.userInfo[NSValidationKeyErrorKey] as? String, key)
                    try expect(error.userInfo[NSValidationObjectErrorKey] as? NSManagedObject === object, "another object for \(key)")
                    try expect(error.userInfo[NSValidationValueErrorKey] != nil, "no value for \(key)")
                }
            }
            try run.elsewhere { try expectEqual(try run.all("Form", $0).count, 0) }
        },
        Behaviour(.contexts, "One error lists every violated rule of a save, and nothing of it is stored", requires: .anyModel) {
            run in
            try run.inContext { context in
                let saved = form(run, context)
                try context.save()
                saved.setValue(0, forKey: "amount")
                let wrong = form(
                    run, context,
                    [
                        "title": NSNull(), "code": "abc", "amount": 11, "price": 0.0, "day": Date(timeIntervalSinceReferenceDate: -1),
                        "address": "nowhere", "start": 2, "end": 1,
                    ], labels: 1)
                run.add("Tag", ["label": "good"], in: context)
                let error = try expectError(code: NSValidationMultipleErrorsError, "saving what breaks nine rules") { try context.save() }
                let details = error.userInfo[NSDetailedErrorsKey] as? [NSError] ?? []
                func found(_ object: NSManagedObject) -> [String] {
                    details.filter { $0.userInfo[NSValidationObjectErrorKey] as? NSManagedObject === object }
                        .map { "\($0.userInfo[NSValidationKeyErrorKey] as? String ?? "-") \($0.code)" }.sorted()
                }
                try expectEqual(found(saved), ["amount \(NSValidationNumberTooSmallError)"])
                try expectEqual(
                    found(wrong),
                    [
                        "- \(ConformanceForm.orderCode)", "address \(ConformanceForm.addressCode)",
                        "amount \(NSValidationNumberTooLargeError)", "code \(NSValidationStringPatternMatchingError)",
                        "day \(NSValidationDateTooSoonError)", "labels \(NSValidationRelationshipLacksMinimumCountError)",
                        "price \(NSValidationNumberTooSmallError)", "title \(NSValidationMissingMandatoryPropertyError)",
                    ])
                try expectEqual(details.count, 9, "errors")
                try run.inContext { try expectEqual(try run.all("Tag", $0).count, 2, "tags in the store:") }
            }
            try run.elsewhere { context in
                try expectEqual(try run.all("Form", context).map { $0.value(forKey: "amount") as? Int }, [5])
            }
        },
        Behaviour(.contexts, "A to-many relationship has a smallest and a largest count", requires: .anyModel) { run in
            let expected: [Int: Int?] = [
                0: NSValidationRelationshipLacksMinimumCountError, 1: NSValidationRelationshipLacksMinimumCountError, 2: nil, 3: nil,
                4: NSValidationRelationshipExceedsMaximumCountError,
            ]
            for (count, code) in expected.sorted(by: { $0.key < $1.key }) {
                try run.inContext { context in
                    form(run, context, labels: count)
                    guard let code else { return try context.save() }
                    let error = try expectError(code: code, "\(count) labels") { try context.save() }
                    try expectEqual(error.userInfo[NSValidationKeyErrorKey] as? String, "labels")
                }
            }
            try run.elsewhere { context in
                try expectEqual(try run.all("Form", context).map { run.related($0, "labels").count }.sorted(), [2, 3])
            }
        },
        Behaviour(
            .contexts, "An object that failed validation is saved once it is corrected, and can be deleted uncorrected", requires: .anyModel
        ) { run in
            try run.inContext { context in
                let (mended, deleted) = (form(run, context, ["amount": 0]), form(run, context, ["amount": 1]))
                _ = try expectError(code: NSValidationNumberTooSmallError, "saving 0") { try context.save() }
                mended.setValue(3, forKey: "amount")
                try context.save()
                deleted.setValue(0, forKey: "amount")
                _ = try expectError(code: NSValidationNumberTooSmallError, "saving 0 as an edit") { try context.save() }
                context.delete(deleted)
                try context.save()
            }
            try run.elsewhere { context in
                try expectEqual(try run.all("Form", context).map { $0.value(forKey: "amount") as? Int }, [3])
            }
        },
        Behaviour(.contexts, "A value can be validated before it is set", requires: .anyModel) { run in
            try run.inContext { context in
                let object = form(run, context)
                for (key, value, code) in violations where key != "title" || !(value is NSNull) {
                    var asked: Any? = value
                    _ = try expectError(code: code, "asking about \(key) = \(value)") { try object.validateValue(&asked, forKey: key) }
                }
                var address: Any? = "B@Example.org"
                try object.validateValue(&address, forKey: "address")
                try expectEqual(address as? String, "b@example.org")
                try context.save()
            }
        },
    ]

    /// Values that violate one rule each, and the code of the error.
    private static let violations: [(key: String, value: any Sendable, code: Int)] = [
        ("title", NSNull(), NSValidationMissingMandatoryPropertyError), ("title", "ab", NSValidationStringTooShortError),
        ("title", "abcdefghi", NSValidationStringTooLongError), ("code", "AB1", NSValidationStringPatternMatchingError),
        ("amount", 0, NSValidationNumberTooSmallError), ("amount", 11, NSValidationNumberTooLargeError),
        ("price", 0.0, NSValidationNumberTooSmallError), ("price", 1000.0, NSValidationNumberTooLargeError),
        ("day", Date(timeIntervalSinceReferenceDate: -1), NSValidationDateTooSoonError),
        ("day", Date(timeIntervalSinceReferenceDate: 86_401), NSValidationDateTooLateError),
        // Values of another type.
        ("amount", "five", NSManagedObjectValidationError), ("title", 12, NSManagedObjectValidationError),
        ("price", Data(), NSManagedObjectValidationError), ("day", "today", NSManagedObjectValidationError),
    ]

    /// Creates a form that satisfies every rule except for `values`.
    @discardableResult
    private static func form(
        _ run: ConformanceRun, _ context: NSManagedObjectContext, _ values: [String: Any] = [:], labels: Int = 2
    ) -> NSManagedObject {
        let form = run.add("Form", ["title": "title", "code": "ABC", "amount": 5, "price": 1.5], in: context)
        form.setValue(Date(timeIntervalSinceReferenceDate: 60), forKey: "day")
        form.setValue(Set((0..<labels).map { run.add("Tag", ["label": "\($0)"], in: context) }), forKey: "labels")
        for (key, value) in values { form.setValue(value is NSNull ? nil : value, forKey: key) }
        return form
    }
}
