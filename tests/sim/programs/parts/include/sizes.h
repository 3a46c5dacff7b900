#pragma once
constexpr int SIZE = 128;
