// The accessors that `@NSManaged` leaves to the Objective-C runtime on Apple's platforms, under the symbols that the compiler refers to.
// A misspelled or missing symbol does not link.
#if !canImport(ObjectiveC)
internal import CoreData

extension Department {
    private static let nameProperty = ManagedProperty<String>("name")
    @usableFromInline @_silgen_name("$s5Guide10DepartmentC4nameSSvg") final func _getName() -> String { self[Self.nameProperty] }
    @usableFromInline @_silgen_name("$s5Guide10DepartmentC4nameSSvs")
    final func _setName(_ value: consuming String) { self[Self.nameProperty] = value }

    private static let employeesProperty = ManagedProperty<Set<Employee>>("employees")
    @usableFromInline @_silgen_name("$s5Guide10DepartmentC9employeesShyAA8EmployeeCGvg") final func _getEmployees() -> Set<Employee> {
        self[Self.employeesProperty]
    }
    @usableFromInline @_silgen_name("$s5Guide10DepartmentC9employeesShyAA8EmployeeCGvs")
    final func _setEmployees(_ value: consuming Set<Employee>) { self[Self.employeesProperty] = value }
}
#endif
