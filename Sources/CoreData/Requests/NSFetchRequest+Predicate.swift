public import Foundation
internal import Predicates

extension NSFetchRequest where ResultType: NSManagedObject {
    /// Makes a request from a predicate of `#Predicate` and Swift's sort descriptors.
    ///
    /// ```swift
    /// let request = NSFetchRequest(predicate: #Predicate<Album> { $0.year > 2000 }, sortBy: [SortDescriptor(\.title)])
    /// ```
    ///
    /// It asks for the entity of the class in the model of the context that executes it. What cannot be translated makes the fetch fail with an
    /// error that shows it.
    ///
    /// - Parameters:
    ///   - predicate: Which objects; nil for all.
    ///   - descriptors: In which order, the most important first.
    public convenience init(
        predicate: Foundation.Predicate<ResultType>? = nil, sortBy descriptors: [SortDescriptor<ResultType>] = []
    ) {
        self.init()
        self.predicate = predicate.flatMap { NSPredicate($0) }
        sortDescriptors = descriptors.isEmpty ? nil : descriptors.map { NSSortDescriptor($0) }
    }
}
